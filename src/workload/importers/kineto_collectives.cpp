#include "workload/importers/kineto_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

#include "input/error.hpp"
#include "workload/importers/json_text.hpp"
#include "workload/importers/kernel_names.hpp"
#include "workload/importers/kineto_fields.hpp"

namespace trainyard::workload {
namespace {

constexpr const char* kUnnamed = "communication kernels whose operation the profile does not say";
constexpr const char* kUneven = "all-to-all calls with different sizes per rank (largest taken)";

/// A call of one rank, ready to be matched.
struct Call {
  CollectiveOp op = CollectiveOp::all_reduce;
  std::optional<units::Bytes> bytes{};
  int rank = 0;  ///< index into the ranks
  int op_index = 0;
  int step = -1;
};

struct GroupKey {
  std::string name{};
  std::vector<int> ranks{};
  friend bool operator<(const GroupKey& a, const GroupKey& b) {
    return std::tie(a.name, a.ranks) < std::tie(b.name, b.ranks);
  }
};

class Matcher {
 public:
  Matcher(std::vector<RankProfile>& ranks, Workload& workload)
      : ranks_{ranks}, workload_{workload} {
    everyone_.resize(static_cast<std::size_t>(workload.world_size));
    std::iota(everyone_.begin(), everyone_.end(), 0);
  }

  void match() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      collect(rank);
    }
    for (const GroupKey& key : order_) {
      match_group(key);
    }
    renumber();
    if (unnamed_ > 0) {
      workload_.skipped.push_back({kUnnamed, unnamed_});
    }
    if (uneven_ > 0) {
      workload_.skipped.push_back({kUneven, uneven_});
    }
  }

 private:
  [[noreturn]] void outside(const RankProfile& rank, std::string_view group,
                            std::string_view what) const {
    throw input::InputError{
        {rank.path, 0, 0},
        fmt::format("group \"{}\" has {}, expected distinct ranks below the job's {}", group, what,
                    workload_.world_size)};
  }

  // --- groups of one rank -----------------------------------------------------------------------

  [[nodiscard]] std::vector<int> ranks_of(const RankProfile& rank,
                                          const CommunicationInfo& info) const {
    if (std::vector<int> listed = parse_ranks(info.ranks); !listed.empty()) {
      return listed;
    }
    if (const std::int64_t last = last_rank(info); last >= 0) {
      if (last >= workload_.world_size) {
        outside(rank, info.group, fmt::format("{} ranks up to rank {}", info.group_size, last));
      }
      std::vector<int> ranks;
      ranks.reserve(static_cast<std::size_t>(info.group_size));
      for (int i = 0; i < info.group_size; ++i) {
        ranks.push_back(info.rank_start + i * info.rank_stride);
      }
      return ranks;
    }
    for (const ProcessGroup& group : rank.file->groups) {
      if (!info.group.empty() && group.name == info.group && !group.ranks.empty()) {
        return group.ranks;
      }
    }
    return everyone_;
  }

  [[nodiscard]] std::optional<GroupKey> stated_group(const RankProfile& rank,
                                                     const CommunicationInfo& info) const {
    if (info.source >= 0 && info.destination >= 0 && info.source != info.destination) {
      return GroupKey{
          fmt::format("p2p {}-{}", std::min(info.source, info.destination),
                      std::max(info.source, info.destination)),
          {std::min(info.source, info.destination), std::max(info.source, info.destination)}};
    }
    if (info.group.empty() && info.ranks.empty()) {
      return std::nullopt;
    }
    return GroupKey{unescape(info.group), ranks_of(rank, info)};
  }

  // Calls without a group take that of the nearest call on their stream, the one before first.
  [[nodiscard]] std::vector<GroupKey> groups_of(const RankProfile& rank) const {
    const auto& calls = rank.graph.communication;
    std::vector<std::optional<GroupKey>> found(calls.size());
    std::map<int, GroupKey> on_lane;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      found[i] = stated_group(rank, calls[i].info);
      if (found[i] && !found[i]->name.starts_with("p2p ")) {
        on_lane.insert_or_assign(calls[i].lane, *found[i]);
      } else if (const auto known = on_lane.find(calls[i].lane);
                 !found[i] && known != on_lane.end()) {
        found[i] = known->second;
      }
    }
    on_lane.clear();
    for (std::size_t i = calls.size(); i > 0; --i) {
      if (found[i - 1]) {
        on_lane.insert_or_assign(calls[i - 1].lane, *found[i - 1]);
      } else if (const auto known = on_lane.find(calls[i - 1].lane); known != on_lane.end()) {
        found[i - 1] = known->second;
      }
    }
    on_lane.clear();
    std::vector<GroupKey> groups;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto next = fmt::format("stream {}", on_lane.size());
      groups.push_back(
          found[i] ? *found[i]
                   : on_lane.try_emplace(calls[i].lane, GroupKey{next, everyone_}).first->second);
    }
    return groups;
  }

  // --- calls ------------------------------------------------------------------------------------

  // A NCCL SendRecv kernel is an all-to-all, a gather, a scatter or single messages; where nothing
  // says which, more than two ranks mean an all-to-all.
  CollectiveOp operation(const CommunicationCall& call, std::size_t group_size) {
    if (const auto stated = collective_in(call.info.collective)) {
      return *stated;
    }
    if (call.info.collective.find("send") != std::string_view::npos ||
        call.info.collective.find("recv") != std::string_view::npos) {
      return CollectiveOp::send_recv;
    }
    if (const auto named = collective_in(call.kernel)) {
      return *named;
    }
    if (call.kernel.find("SendRecv") == std::string_view::npos) {
      ++unnamed_;
      return CollectiveOp::all_reduce;
    }
    return group_size > 2 ? CollectiveOp::all_to_all : CollectiveOp::send_recv;
  }

  void collect(std::size_t index) {
    const RankProfile& rank = ranks_[index];
    const std::vector<GroupKey> groups = groups_of(rank);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const CommunicationCall& from = rank.graph.communication[i];
      Call call;
      call.op = operation(from, groups[i].ranks.size());
      call.bytes = collective_bytes(call.op, from.info, groups[i].ranks.size());
      call.rank = static_cast<int>(index);
      call.op_index = from.op;
      call.step = rank.graph.timeline.ops[static_cast<std::size_t>(from.op)].step;
      check_member(rank, groups[i]);
      auto& per_rank = calls_[groups[i]];
      if (per_rank.empty()) {
        check_ranks(rank, groups[i]);
        order_.push_back(groups[i]);
        per_rank.resize(ranks_.size());
      }
      per_rank[index].push_back(call);
    }
  }

  void check_ranks(const RankProfile& rank, const GroupKey& group) const {
    for (const int member : group.ranks) {
      if (member >= workload_.world_size) {
        outside(rank, group.name, fmt::format("rank {}", member));
      }
    }
  }

  static void check_member(const RankProfile& rank, const GroupKey& group) {
    const int own = rank.graph.timeline.rank;
    if (std::find(group.ranks.begin(), group.ranks.end(), own) == group.ranks.end()) {
      throw input::InputError{
          {rank.path, 0, 0},
          fmt::format("rank {} calls a collective of group \"{}\", expected one "
                      "of its ranks [{}]",
                      own, group.name, fmt::join(group.ranks, ", "))};
    }
  }

  // --- matching ---------------------------------------------------------------------------------

  static std::string text(const Call& call) {
    return call.bytes ? fmt::format("{} of {} bytes", to_text(call.op), call.bytes->si())
                      : fmt::format("{} of unknown size", to_text(call.op));
  }

  [[noreturn]] void disagree(const GroupKey& key, std::size_t sequence, std::size_t rank,
                             std::string_view what) const {
    throw input::InputError{
        {ranks_[rank].path, 0, 0},
        fmt::format("ranks disagree on collective {} of group \"{}\": {}, expected the same "
                    "operations and sizes in the same order",
                    sequence, key.name, what)};
  }

  void match_group(const GroupKey& key) {
    const auto& per_rank = calls_.at(key);
    std::size_t first = ranks_.size();
    const auto group = static_cast<int>(workload_.groups.size());
    workload_.groups.push_back({key.name, key.ranks});
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const bool member = std::find(key.ranks.begin(), key.ranks.end(),
                                    ranks_[rank].graph.timeline.rank) != key.ranks.end();
      if (!member && per_rank[rank].empty()) {
        continue;
      }
      if (first == ranks_.size()) {
        first = rank;
      }
      check_count(key, first, rank);
    }
    const std::size_t count = per_rank[first].size();
    for (std::size_t sequence = 0; sequence < count; ++sequence) {
      match_call(key, group, sequence);
    }
  }

  void check_count(const GroupKey& key, std::size_t first, std::size_t rank) const {
    const auto& per_rank = calls_.at(key);
    const std::size_t count = per_rank[rank].size();
    const std::size_t expected = per_rank[first].size();
    if (count != expected) {
      disagree(
          key, std::min(count, expected), rank,
          fmt::format("rank {} has {} of them, rank {} has {}", ranks_[first].graph.timeline.rank,
                      expected, ranks_[rank].graph.timeline.rank, count));
    }
  }

  void match_call(const GroupKey& key, int group, std::size_t sequence) {
    const auto& per_rank = calls_.at(key);
    const Call* reference = nullptr;
    Collective collective;
    bool uneven = false;
    for (std::size_t rank = 0; rank < per_rank.size(); ++rank) {
      if (per_rank[rank].empty()) {
        continue;
      }
      const Call& call = per_rank[rank][sequence];
      if (reference == nullptr) {
        reference = &call;
        collective = {call.op, call.bytes, group, static_cast<int>(sequence), call.step};
      }
      check_agreement(key, sequence, *reference, call);
      uneven = uneven || sizes_differ(collective.bytes, call.bytes);
      if (call.bytes && (!collective.bytes || *call.bytes > *collective.bytes)) {
        collective.bytes = call.bytes;
      }
      ranks_[rank].graph.timeline.ops[static_cast<std::size_t>(call.op_index)].collective =
          static_cast<int>(workload_.collectives.size());
    }
    uneven_ += uneven ? 1 : 0;
    workload_.collectives.push_back(collective);
  }

  static bool sizes_differ(const std::optional<units::Bytes>& a,
                           const std::optional<units::Bytes>& b) {
    return a && b && *a != *b;
  }

  void check_agreement(const GroupKey& key, std::size_t sequence, const Call& reference,
                       const Call& call) const {
    const bool may_differ =
        call.op == CollectiveOp::all_to_all || call.op == CollectiveOp::send_recv;
    if (call.op != reference.op || (!may_differ && sizes_differ(reference.bytes, call.bytes))) {
      const auto rank_of = [&](const Call& of) {
        return ranks_[static_cast<std::size_t>(of.rank)].graph.timeline.rank;
      };
      disagree(key, sequence, static_cast<std::size_t>(call.rank),
               fmt::format("rank {} has {}, rank {} has {}", rank_of(reference), text(reference),
                           rank_of(call), text(call)));
    }
  }

  // Collectives in the order in which the first rank that takes part starts them.
  void renumber() {
    std::vector<int> number(workload_.collectives.size(), -1);
    std::vector<Collective> sorted;
    for (RankProfile& rank : ranks_) {
      for (Op& op : rank.graph.timeline.ops) {
        if (op.collective < 0) {
          continue;
        }
        const auto old = static_cast<std::size_t>(op.collective);
        if (number[old] < 0) {
          number[old] = static_cast<int>(sorted.size());
          sorted.push_back(workload_.collectives[old]);
        }
        op.collective = number[old];
      }
    }
    workload_.collectives = std::move(sorted);
  }

  std::vector<RankProfile>& ranks_;
  Workload& workload_;
  std::vector<int> everyone_{};
  std::map<GroupKey, std::vector<std::vector<Call>>> calls_{};  ///< [rank][sequence]
  std::vector<GroupKey> order_{};                               ///< by first use
  std::int64_t unnamed_ = 0;
  std::int64_t uneven_ = 0;
};

}  // namespace

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  if (text.find("..") != std::string_view::npos) {
    return {};
  }
  while (!text.empty()) {
    const std::size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) {
      break;
    }
    text.remove_prefix(digit);
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc{} || rank > 1 << 24) {
      return {};
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::int64_t last_rank(const CommunicationInfo& info) {
  if (info.rank_start < 0 || info.rank_stride <= 0 || info.group_size <= 0) {
    return -1;
  }
  return info.rank_start + static_cast<std::int64_t>(info.group_size - 1) * info.rank_stride;
}

std::optional<units::Bytes> collective_bytes(CollectiveOp op, const CommunicationInfo& info,
                                             std::size_t group_size) {
  const int size = element_size(info.dtype);
  if (size == 0) {
    return std::nullopt;
  }
  const double in = static_cast<double>(info.in_elements) * size;
  const double out = static_cast<double>(info.out_elements) * size;
  if (op == CollectiveOp::all_gather && info.out_elements >= 0) {
    return units::Bytes{out};
  }
  if (op == CollectiveOp::scatter && info.out_elements > info.in_elements) {
    return units::Bytes{out * static_cast<double>(group_size)};  // seen from a rank that receives
  }
  if (op == CollectiveOp::send_recv && info.out_elements > info.in_elements) {
    return units::Bytes{out};
  }
  if (info.in_elements < 0) {
    return std::nullopt;
  }
  const bool part = op == CollectiveOp::all_gather || op == CollectiveOp::gather;
  return units::Bytes{part ? in * static_cast<double>(group_size) : in};
}

void match_collectives(std::vector<RankProfile>& ranks, Workload& workload) {
  Matcher{ranks, workload}.match();
}

}  // namespace trainyard::workload
