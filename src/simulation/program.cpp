#include "simulation/program.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "simulation/op_times.hpp"

namespace trainyard::simulation {
namespace {

using workload::Op;
using workload::OpKind;
using workload::Timeline;

/// Adds a term, keeping the larger weight of a source that is there already.
void add_term(Terms& terms, Term term) {
  for (Term& known : terms) {
    if (known.source == term.source) {
      known.weight = std::max(known.weight, term.weight);
      return;
    }
  }
  terms.push_back(term);
}

void add_shifted(Terms& terms, const Terms& more, std::int64_t shift) {
  for (const Term& term : more) {
    add_term(terms, {term.source, term.weight + shift});
  }
}

/// Builds one rank's program in a single pass over its operations.
class Compiler {
 public:
  explicit Compiler(const Timeline& timeline)
      : timeline_{timeline}, last_on_stream_(timeline.streams.size(), -1) {
    program_.rank = timeline.rank;
    program_.offset = timeline.start.count();
    program_.streams = static_cast<int>(timeline.streams.size());
    ends_.resize(timeline.ops.size());
  }

  RankProgram build() {
    for (std::size_t i = 0; i < timeline_.ops.size(); ++i) {
      add_op(static_cast<int>(i));
    }
    add_results();
    count_sources();
    return std::move(program_);
  }

 private:
  /// A term is implied when a collective of the same sum ends no earlier: its arrival already waits
  /// for the same source. Dropping such terms keeps the sums short however long the step is.
  void prune(Terms& terms) const {
    const auto implied = [&](const Term& term) {
      return std::any_of(terms.begin(), terms.end(), [&](const Term& other) {
        if (other.source == term.source || other.source < program_.streams) {
          return false;
        }
        const Terms& arrival =
            program_.arrival[static_cast<std::size_t>(other.source - program_.streams)];
        return std::any_of(arrival.begin(), arrival.end(), [&](const Term& before) {
          return before.source == term.source && before.weight + other.weight >= term.weight;
        });
      });
    };
    Terms kept;
    std::copy_if(terms.begin(), terms.end(), std::back_inserter(kept),
                 [&](const Term& term) { return !implied(term); });
    terms = std::move(kept);
  }

  [[nodiscard]] Terms start_of(const Op& op) const {
    Terms start;
    const int previous = last_on_stream_[static_cast<std::size_t>(op.stream)];
    if (previous < 0) {
      add_term(start, {op.stream, op.gap.count()});
    } else {
      add_shifted(start, ends_[static_cast<std::size_t>(previous)], op.gap.count());
    }
    for (const auto& dependency : op.after) {
      add_shifted(start, ends_[static_cast<std::size_t>(dependency.op)], dependency.lag.count());
    }
    prune(start);
    return start;
  }

  void add_op(int index) {
    const Op& op = timeline_.ops[static_cast<std::size_t>(index)];
    Terms start = start_of(op);
    if (!timeline_.streams[static_cast<std::size_t>(op.stream)].host && !gpu_started_) {
      gpu_started_ = true;
      program_.gpu_start = start;
    }
    Terms& end = ends_[static_cast<std::size_t>(index)];
    if (op.kind == OpKind::collective) {
      end = {{program_.streams + static_cast<int>(program_.collectives.size()), 0}};
      program_.collectives.push_back(op.collective);
      program_.recorded.push_back(op.recorded.count());
      program_.arrival.push_back(std::move(start));
    } else {
      end = std::move(start);
      for (Term& term : end) {
        term.weight += op.duration.count();
      }
    }
    last_on_stream_[static_cast<std::size_t>(op.stream)] = index;
  }

  void add_results() {
    for (int stream = 0; stream < program_.streams; ++stream) {
      const int last = last_on_stream_[static_cast<std::size_t>(stream)];
      Terms finish = last < 0 ? Terms{{stream, 0}} : ends_[static_cast<std::size_t>(last)];
      if (last >= 0 && !timeline_.streams[static_cast<std::size_t>(stream)].host) {
        add_shifted(program_.gpu_end, finish, 0);
      }
      program_.finish.push_back(std::move(finish));
    }
    prune(program_.gpu_end);
    for (const auto& mark : timeline_.steps) {
      for (const int op : {mark.begin, mark.end}) {
        program_.marks.push_back(op < 0 ? Terms{} : ends_[static_cast<std::size_t>(op)]);
      }
    }
  }

  void count_sources() {
    program_.dependents.resize(program_.collectives.size());
    for (std::size_t q = 0; q < program_.arrival.size(); ++q) {
      int missing = 0;
      for (const Term& term : program_.arrival[q]) {
        if (term.source >= program_.streams) {
          program_.dependents[static_cast<std::size_t>(term.source - program_.streams)].push_back(
              static_cast<int>(q));
          ++missing;
        }
      }
      program_.missing.push_back(missing);
    }
  }

  const Timeline& timeline_;
  std::vector<int> last_on_stream_;
  std::vector<Terms> ends_{};
  bool gpu_started_ = false;
  RankProgram program_{};
};

void measure_busy(const Timeline& timeline, RankProgram& program) {
  const GpuUse use = gpu_use(timeline, recorded_times(timeline));
  program.compute_busy = length(use.compute);
  const std::int64_t communication = length(use.communication);
  if (communication > 0) {
    program.exposed_share = static_cast<double>(length(use.any) - program.compute_busy) /
                            static_cast<double>(communication);
  }
}

}  // namespace

Program compile(const workload::Workload& workload) {
  Program program;
  for (const auto& timeline : workload.timelines) {
    program.ranks.push_back(Compiler{timeline}.build());
    measure_busy(timeline, program.ranks.back());
  }
  program.absent_wait.assign(workload.collectives.size(), 0);
  return program;
}

std::int64_t evaluate(const Terms& terms, const std::vector<std::int64_t>& streams,
                      const std::vector<std::int64_t>& collectives, std::int64_t otherwise) {
  if (terms.empty()) {
    return otherwise;
  }
  std::int64_t value = std::numeric_limits<std::int64_t>::min();
  const int count = static_cast<int>(streams.size());
  for (const Term& term : terms) {
    const std::int64_t source = term.source < count
                                    ? streams[static_cast<std::size_t>(term.source)]
                                    : collectives[static_cast<std::size_t>(term.source - count)];
    value = std::max(value, source + term.weight);
  }
  return value;
}

}  // namespace trainyard::simulation
