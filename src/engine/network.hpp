#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "units/nanoseconds.hpp"
#include "units/quantity.hpp"

namespace trainyard::engine {

/// A directed shared resource of the network, by index into the platform's resources.
using ResourceId = std::uint32_t;
using FlowId = std::uint64_t;   ///< never 0, never used again
using TimerId = std::uint64_t;  ///< never 0, never used again

/// Receives what it asked for. `token` is whatever the receiver passed in.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void fire(std::uint64_t token) = 0;
};

/// A fluid transfer. Its rate is its max-min share of every resource it crosses, at most `cap`; it
/// moves `size` over each of them, then ends; `latency` passes once before the first byte.
struct FlowSpec {
  std::vector<ResourceId> resources{};  ///< a resource listed twice counts twice
  units::Bytes size{};                  ///< per resource, > 0
  units::BytesPerSecond cap{};          ///< 0: none
  units::Nanoseconds latency{};
  double weight = 1.0;  ///< share relative to other flows, > 0
};

struct Resource {
  std::string name{};
  units::BytesPerSecond bandwidth{};  ///< > 0, effective
};

/// The clock, timers and shared bandwidth. Call-backs come in time order; at one instant flows that
/// end come before timers, each in the order they were started. All calls are allowed inside a
/// call-back.
class Network {
 public:
  virtual ~Network() = default;

  [[nodiscard]] virtual units::Nanoseconds now() const = 0;

  /// Starts a flow over at least one resource; `handler.fire(token)` when its last byte has
  /// arrived.
  virtual FlowId start(const FlowSpec& flow, Handler& handler, std::uint64_t token) = 0;
  /// Stops a flow; it will not fire. Returns the bytes it still had to move (all of them during its
  /// latency). Precondition: the flow has neither ended nor been cancelled.
  virtual units::Bytes cancel(FlowId flow) = 0;
  /// Bytes that the flow still has to move, and whether its latency has passed.
  [[nodiscard]] virtual units::Bytes remaining(FlowId flow) = 0;

  /// `handler.fire(token)` after `delay` (>= 0; 0 = later at this instant).
  virtual TimerId after(units::Nanoseconds delay, Handler& handler, std::uint64_t token) = 0;
  virtual void cancel_timer(TimerId timer) = 0;

  /// Runs until nothing is pending. Callable once.
  virtual void run() = 0;
  /// Ends run() after the current call-back; what is pending never fires.
  virtual void stop() = 0;

  [[nodiscard]] virtual std::uint64_t events() const = 0;  ///< call-backs so far
};

/// The SimGrid back end (CM02, cross-traffic off, lazy max-min). SimGrid allows one in a process:
/// the second call throws std::logic_error.
[[nodiscard]] std::unique_ptr<Network> make_simgrid_network(const std::vector<Resource>& resources);

/// The own fluid back end: progressive filling, no SimGrid. A cross-check and, within one process,
/// as many as wanted. Same call-backs at the same nanosecond up to rounding.
[[nodiscard]] std::unique_ptr<Network> make_fluid_network(const std::vector<Resource>& resources);

}  // namespace trainyard::engine
