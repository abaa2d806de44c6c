#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "input/error.hpp"
#include "units/quantity.hpp"

namespace trainyard::topology::importers {

/// A cabled port, as one end of the cable has it.
struct IbPort {
  int number = 0;
  int peer = -1;  ///< index of the record at the other end
  int peer_port = 0;
  std::string width_speed{};  ///< "4xHDR"
  units::BytesPerSecond rate{};
  input::Place place{};
};

/// A switch or a channel adapter.
struct IbRecord {
  bool is_switch = false;
  int ports = 0;              ///< cabled or not
  std::string id{};           ///< "S-248a0703009c0b46"
  std::string description{};  ///< "MF0;leaf-01:MQM8700/U1", "node01 mlx5_0"
  std::vector<IbPort> cables{};
  input::Place place{};
};

struct IbNetwork {
  std::vector<IbRecord> records{};
  std::vector<std::string> left_out{};
};

/// What `ibnetdiscover` prints.
/// @throws InputError: a line that is none of its kinds, a port twice, a cable whose other end is
///         missing or says otherwise, an unknown speed
/// @source rdma-core, man page of ibnetdiscover(8): topology file format
[[nodiscard]] IbNetwork parse_ibnetdiscover(std::string_view text, const std::string& file);

/// Of "4xHDR": lanes x rate; 0 when it is none.
[[nodiscard]] units::BytesPerSecond ib_rate(std::string_view width_speed);

}  // namespace trainyard::topology::importers
