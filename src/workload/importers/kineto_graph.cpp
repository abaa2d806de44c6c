#include "workload/importers/kineto_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/importers/json_text.hpp"
#include "workload/importers/kernel_names.hpp"
#include "workload/importers/kineto_blockers.hpp"
#include "workload/importers/kineto_links.hpp"
#include "workload/importers/kineto_threads.hpp"

namespace trainyard::workload {
namespace {

using units::Nanoseconds;

// A GPU reacts to the event of another stream within a few microseconds.
constexpr std::int64_t kReactionTime = 20'000;

class GraphBuilder {
 public:
  GraphBuilder(const KinetoFile& file, NameTable& names)
      : file_{file},
        names_{names},
        links_{link(file)},
        threads_{find_instants(file, links_)},
        blockers_{file, links_, threads_.window_start} {}

  RankGraph build() {
    make_streams();
    shift_links();
    std::size_t next = 0;
    for (std::size_t i = 0; i < links_.ops.size(); ++i) {
      while (next < threads_.instants.size() &&
             threads_.instants[next].time <= links_.ops[i].start) {
        add_instant(threads_.instants[next++]);
      }
      add_gpu(static_cast<int>(i));
    }
    while (next < threads_.instants.size()) {
      add_instant(threads_.instants[next++]);
    }
    graph_.start = file_.base + threads_.window_start;
    graph_.without_launch = links_.without_launch;
    return std::move(graph_);
  }

 private:
  struct ThreadState {
    std::int64_t time = 0;
    int op = -1;
    int launch = -1;  ///< last call that launched
  };

  Timeline& timeline() { return graph_.timeline; }

  void make_streams() {
    for (int i = 0; i < threads_.count; ++i) {
      timeline().streams.push_back({fmt::format("host:{}", i), true});
    }
    for (const Lane& lane : links_.lanes) {
      timeline().streams.push_back({fmt::format("gpu{}:{}", lane.device, lane.stream), false});
    }
    for (const StepRange& step : threads_.steps) {
      timeline().steps.push_back({step.name, -1, -1});
    }
    host_.resize(static_cast<std::size_t>(threads_.count));
    lane_op_.assign(links_.lanes.size(), -1);
    waited_.assign(links_.lanes.size(), std::vector<int>(links_.lanes.size(), -1));
    emitted_.assign(links_.ops.size(), -1);
    launch_op_.assign(file_.calls.size(), -1);
    name_numbers_.assign(file_.names.size(), -1);
    categories_.resize(file_.names.size());
    for (std::size_t i = 0; i < file_.names.size(); ++i) {
      categories_[i] = kernel_category(file_.names[i]);
    }
  }

  // From here on every time counts from the window's start.
  void shift_links() {
    const std::int64_t shift = threads_.window_start;
    for (GpuOp& op : links_.ops) {
      op.start -= shift;
      op.end -= shift;
      op.launched -= shift;
    }
    for (KnownWait& wait : links_.known_waits) {
      wait.time -= shift;
      wait.recorded -= shift;
    }
    for (std::int64_t& wait : links_.waits) {
      wait -= shift;
    }
  }

  int add_op(Op op, std::int64_t end) {
    timeline().ops.push_back(std::move(op));
    ends_.push_back(end);
    return static_cast<int>(ends_.size()) - 1;
  }

  // --- host -------------------------------------------------------------------------------------

  // The other thread's latest instant since this thread's previous one; -1: there is none.
  [[nodiscard]] int handover(int thread) const {
    int best = -1;
    const ThreadState& own = host_[static_cast<std::size_t>(thread)];
    std::int64_t latest = own.op < 0 ? -1 : own.time;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (static_cast<int>(i) != thread && host_[i].op >= 0 && host_[i].time > latest) {
        latest = host_[i].time;
        best = static_cast<int>(i);
      }
    }
    return best;
  }

  // A host op from the thread's previous instant (or the handover) to `time`.
  void add_host(int thread, std::int64_t time, int step) {
    ThreadState& state = host_[static_cast<std::size_t>(thread)];
    Op op;
    op.kind = OpKind::host;
    op.stream = thread;
    op.step = step;
    std::int64_t from = state.time;
    if (const int other = handover(thread); other >= 0) {
      from = host_[static_cast<std::size_t>(other)].time;
      op.after.push_back({host_[static_cast<std::size_t>(other)].op, {}});
    }
    op.duration = Nanoseconds{time - from};
    state.op = add_op(std::move(op), time);
    state.time = time;
  }

  void add_host_if_needed(int thread, std::int64_t time, int step) {
    if (time > host_[static_cast<std::size_t>(thread)].time || handover(thread) >= 0) {
      add_host(thread, time, step);
    }
  }

  void add_instant(const Instant& instant) {
    switch (instant.kind) {
      case Instant::Kind::step_begin:
      case Instant::Kind::step_end:
        add_marker(instant);
        break;
      case Instant::Kind::call:
        add_call(instant);
        break;
      case Instant::Kind::returned:
      case Instant::Kind::returned_at_once:
        add_return(instant);
        break;
    }
  }

  void add_marker(const Instant& instant) {
    const bool begin = instant.kind == Instant::Kind::step_begin;
    ThreadState& state = host_[static_cast<std::size_t>(instant.thread)];
    const int before = begin ? threads_.step_at(state.time) : instant.step;
    add_host_if_needed(instant.thread, instant.time, before);
    Op op;
    op.kind = OpKind::host;
    op.stream = instant.thread;
    op.step = instant.step;
    state.op = add_op(std::move(op), instant.time);
    StepMark& mark = timeline().steps[static_cast<std::size_t>(instant.step)];
    (begin ? mark.begin : mark.end) = state.op;
  }

  void add_call(const Instant& instant) {
    const auto call = static_cast<std::size_t>(instant.call);
    const int step = threads_.step_at(instant.time);
    if (links_.launches[call].empty()) {
      add_host_if_needed(instant.thread, instant.time, step);
      return;
    }
    add_host(instant.thread, instant.time, step);
    ThreadState& state = host_[static_cast<std::size_t>(instant.thread)];
    launch_op_[call] = state.op;
    state.launch = instant.call;
  }

  void add_return(const Instant& instant) {
    const HostCall& call = file_.calls[static_cast<std::size_t>(instant.call)];
    const std::int64_t called = call.start - threads_.window_start;
    ThreadState& state = host_[static_cast<std::size_t>(instant.thread)];
    const std::vector<int> waited_for = blockers_.find(instant, state.launch, emitted_);
    if (waited_for.empty()) {
      return;  // nothing recorded: plain host time
    }
    Op op;
    op.kind = OpKind::wait;
    op.stream = instant.thread;
    op.step = threads_.step_at(called);
    std::int64_t from = state.time;
    for (const int gpu : waited_for) {
      op.after.push_back({emitted_[static_cast<std::size_t>(gpu)], {}});
      from = std::max(from, links_.ops[static_cast<std::size_t>(gpu)].end);
    }
    op.duration = Nanoseconds{instant.time - from};
    state.op = add_op(std::move(op), instant.time);
    state.time = instant.time;
  }

  // --- GPU --------------------------------------------------------------------------------------

  [[nodiscard]] const GpuEvent& event_of(const GpuOp& op) const {
    return file_.gpu[static_cast<std::size_t>(op.event)];
  }

  void add_gpu(int index) {
    const GpuOp& gpu = links_.ops[static_cast<std::size_t>(index)];
    Op op = describe(gpu);
    op.stream = threads_.count + gpu.lane;
    op.step = threads_.step_at(gpu.launched);
    add_predecessors(gpu, op);
    const bool communicates = op.kind == OpKind::collective;
    const int number = add_op(std::move(op), gpu.end);
    emitted_[static_cast<std::size_t>(index)] = number;
    lane_op_[static_cast<std::size_t>(gpu.lane)] = number;
    if (communicates) {
      add_communication(index, number);
    }
  }

  Op describe(const GpuOp& gpu) {
    const GpuEvent& event = event_of(gpu);
    const auto name = static_cast<std::size_t>(event.name);
    Op op;
    op.duration = Nanoseconds{event.duration};
    if (event.work == GpuWork::kernel) {
      if (links_.communicates[name] != 0) {
        op.kind = OpKind::collective;
        op.recorded = std::exchange(op.duration, {});
      }
      op.category = op.kind == OpKind::compute ? categories_[name] : Category::other;
      if (name_numbers_[name] < 0) {
        name_numbers_[name] = names_.number(short_kernel_name(unescape(file_.names[name])));
      }
      op.name = name_numbers_[name];
      return op;
    }
    op.kind = event.work == GpuWork::copy ? OpKind::copy : OpKind::fill;
    op.copy = op.kind == OpKind::copy ? copy_kind(file_.names[name]) : CopyKind::unknown;
    if (event.bytes >= 0) {
      op.bytes = units::Bytes{static_cast<double>(event.bytes)};
    }
    return op;
  }

  void add_predecessors(const GpuOp& gpu, Op& op) {
    const int before = lane_op_[static_cast<std::size_t>(gpu.lane)];
    const std::int64_t stream_end = before < 0 ? 0 : ends_[static_cast<std::size_t>(before)];
    const int launch = gpu.launch < 0 ? -1 : launch_op_[static_cast<std::size_t>(gpu.launch)];
    std::int64_t latest = stream_end;
    if (launch >= 0 && gpu.launched <= gpu.start) {
      op.after.push_back({launch, {}});
      latest = std::max(latest, gpu.launched);
    }
    for (const int other : stream_waits(gpu, before, latest)) {
      op.after.push_back({emitted_[static_cast<std::size_t>(other)], {}});
      latest = std::max(latest, links_.ops[static_cast<std::size_t>(other)].end);
    }
    const Nanoseconds slack{gpu.start - latest};
    if (latest == stream_end && (before >= 0 || op.after.empty())) {
      op.gap = slack;
      return;
    }
    for (Dependency& dependency : op.after) {
      if (ends_[static_cast<std::size_t>(dependency.op)] == latest) {
        dependency.lag = slack;
      }
    }
  }

  // Ops of other streams that this one waits for. `latest` is the end of what else it waits for.
  std::vector<int> stream_waits(const GpuOp& gpu, int before, std::int64_t latest) {
    std::vector<int> found;
    const std::int64_t previous_launch = before < 0 ? -1 : lane_launch(gpu.lane);
    lane_launch(gpu.lane) = gpu.launched;
    auto wait = std::upper_bound(links_.known_waits.begin(), links_.known_waits.end(),
                                 std::pair{gpu.lane, previous_launch},
                                 [](const auto& key, const KnownWait& known) {
                                   return key < std::pair{known.lane, known.time};
                                 });
    for (; wait != links_.known_waits.end() && wait->lane == gpu.lane && wait->time <= gpu.launched;
         ++wait) {
      wait_for(gpu, wait->source, wait->recorded, found);
    }
    const bool all = gpu.waits || is_communication(gpu);
    const bool perhaps = !all && has_wait(previous_launch, gpu.launched);
    if (!all && !perhaps) {
      return found;
    }
    for (std::size_t i = 0; i < links_.lanes.size(); ++i) {
      const auto lane = static_cast<int>(i);
      if (lane == gpu.lane ||
          links_.lanes[i].device != links_.lanes[static_cast<std::size_t>(gpu.lane)].device) {
        continue;
      }
      if (all || explains(gpu, lane, latest)) {
        wait_for(gpu, lane, gpu.launched, found);
      }
    }
    return found;
  }

  std::int64_t& lane_launch(int lane) {
    lane_launch_.resize(links_.lanes.size(), -1);
    return lane_launch_[static_cast<std::size_t>(lane)];
  }

  [[nodiscard]] bool is_communication(const GpuOp& gpu) const {
    const GpuEvent& event = event_of(gpu);
    return event.work == GpuWork::kernel &&
           links_.communicates[static_cast<std::size_t>(event.name)] != 0;
  }

  [[nodiscard]] bool has_wait(std::int64_t after, std::int64_t until) const {
    const auto next = std::upper_bound(links_.waits.begin(), links_.waits.end(), after);
    return next != links_.waits.end() && *next <= until;
  }

  [[nodiscard]] bool explains(const GpuOp& gpu, int lane, std::int64_t latest) const {
    const int op = links_.latest_ended(lane, gpu.launched, gpu.start, emitted_);
    if (op < 0) {
      return false;
    }
    const std::int64_t end = links_.ops[static_cast<std::size_t>(op)].end;
    return end > latest && gpu.start - end <= kReactionTime;
  }

  void wait_for(const GpuOp& gpu, int lane, std::int64_t launched_before, std::vector<int>& found) {
    const int op = links_.latest_ended(lane, launched_before, gpu.start, emitted_);
    int& known = waited_[static_cast<std::size_t>(gpu.lane)][static_cast<std::size_t>(lane)];
    if (op < 0 || emitted_[static_cast<std::size_t>(op)] <= known) {
      return;
    }
    known = emitted_[static_cast<std::size_t>(op)];
    found.push_back(op);
  }

  // --- communication ----------------------------------------------------------------------------

  void add_communication(int index, int op) {
    const GpuOp& gpu = links_.ops[static_cast<std::size_t>(index)];
    const GpuEvent& event = event_of(gpu);
    CommunicationCall call;
    call.op = op;
    call.lane = gpu.lane;
    call.kernel = file_.names[static_cast<std::size_t>(event.name)];
    if (event.communication >= 0) {
      call.info = file_.communication[static_cast<std::size_t>(event.communication)];
    }
    used_ranges_.resize(file_.ranges.size());
    for (const int range : {links_.range_of[static_cast<std::size_t>(index)],
                            links_.outer_range_of[static_cast<std::size_t>(index)]}) {
      if (range < 0) {
        continue;
      }
      const auto at = static_cast<std::size_t>(range);
      const CommunicationInfo& info =
          file_.communication[static_cast<std::size_t>(file_.ranges[at].communication)];
      merge(call.info, info, used_ranges_[at] == 0 || used_ranges_[at] == index + 1);
      used_ranges_[at] = index + 1;
    }
    graph_.communication.push_back(call);
  }

  // Fills in what the kernel itself does not say. Sizes belong to one kernel of a range.
  static void merge(CommunicationInfo& info, const CommunicationInfo& other, bool with_sizes) {
    const auto text = [](std::string_view& mine, std::string_view theirs) {
      mine = mine.empty() ? theirs : mine;
    };
    const auto number = [](int& mine, int theirs) { mine = mine < 0 ? theirs : mine; };
    text(info.collective, other.collective);
    text(info.group, other.group);
    text(info.ranks, other.ranks);
    number(info.group_size, other.group_size);
    number(info.rank_start, other.rank_start);
    number(info.rank_stride, other.rank_stride);
    number(info.source, other.source);
    number(info.destination, other.destination);
    if (with_sizes && info.in_elements < 0) {
      info.in_elements = other.in_elements;
      info.out_elements = other.out_elements;
      info.dtype = other.dtype;
    }
  }

  const KinetoFile& file_;
  NameTable& names_;
  Links links_;
  Threads threads_;
  Blockers blockers_;
  RankGraph graph_{};
  std::vector<std::int64_t> ends_{};         ///< of every op so far
  std::vector<ThreadState> host_{};          ///< per thread
  std::vector<int> lane_op_{};               ///< last op of each lane
  std::vector<std::int64_t> lane_launch_{};  ///< launch of the last op of each lane
  std::vector<std::vector<int>> waited_{};   ///< [lane][other]: op last waited for
  std::vector<int> emitted_{};               ///< op of each GPU op, -1 yet
  std::vector<int> launch_op_{};             ///< host op of each call
  std::vector<int> used_ranges_{};
  std::vector<int> name_numbers_{};     ///< per name of the file: its number in the table
  std::vector<Category> categories_{};  ///< per name of the file
};

}  // namespace

int NameTable::number(const std::string& name) {
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<int>(names_.size()));
  if (is_new) {
    names_.push_back(name);
  }
  return found->second;
}

RankGraph build_graph(const KinetoFile& file, NameTable& names) {
  return GraphBuilder{file, names}.build();
}

}  // namespace trainyard::workload
