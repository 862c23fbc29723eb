#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace tutti::test {

/// The constraints of a strategy on the rest of its scenario. A scenario is valid only if they
/// hold.
struct Needs {
  bool gpus = false;
  bool power_of_two_replicas = false;
  bool power_of_two_workers = false;
  int min_workers = 1;
  int most_workers = 4;
  int min_replicas_per_worker = 1;
  int max_replicas_per_worker = 4;
  bool identical = false;  ///< workers are identical, so that one can represent all
  bool many = false;       ///< enough workers that repeated rounds are skipped
  bool servers = false;    ///< workers that are servers
  bool one_type = false;   ///< all gradients have the same type
  bool divisible = false;  ///< the number of replicas divides the gradients' sizes
  /// Gradients have the same size, so that sums of sizes reach a threshold exactly.
  bool equal = false;
  bool no_sparse = false;       ///< no sparse gradients
  bool no_on_read = false;      ///< no variables that are synchronised when they are read
  bool no_update_time = false;  ///< the workload must not set the time of updates
  bool no_communicators = false;
  bool no_split_model = false;  ///< no communicator whose replicas hold parts of the model
};

/// A scenario that is being generated. Its parts draw from one sequence of random numbers. They can
/// read the choices of earlier parts, and record the values of the axes that they choose.
class Draft {
 public:
  explicit Draft(std::uint64_t seed) : random_(seed) {}

  /// Returns a number from `least` … `most`, uniformly distributed.
  int between(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::string one_of(const std::vector<std::string>& of) { return of[random_.below(of.size())]; }
  /// With a probability of `percent`, returns a space followed by one of the texts, and records the
  /// choice. Else returns an empty text.
  std::string maybe(int percent, const std::string& axis, const std::vector<std::string>& of);

  void note(const std::string& axis, const std::string& value);

  std::string family;
  std::string algorithm;  ///< "": the strategy chooses the algorithm
  Needs needs;

  std::string machine;
  bool on_gpus = false;
  std::string network;  ///< "": none
  int workers = 1;
  int replicas_per_worker = 1;
  int dedicated_servers = 0;
  [[nodiscard]] int replicas() const { return workers * replicas_per_worker; }
  [[nodiscard]] bool starts_with_nccl() const { return algorithm.starts_with("nccl"); }
  /// Returns true if the algorithm works in any group of replicas.
  [[nodiscard]] bool is_flat() const {
    return algorithm == "ring" || algorithm == "nccl" || algorithm == "halving_doubling" ||
           algorithm == "recursive_doubling";
  }

  bool has_sparse = false;
  bool saves_checkpoints = false;
  std::string network_model;
  std::string axes;  ///< the recorded choices: "family=plain algorithm=ring …"

 private:
  core::Random random_;
};

/// Concatenates the parts. The elements of a braced list are evaluated in order, but operands of a
/// sum and arguments of a call are not. With those, the scenarios would depend on the compiler.
std::string in_order(std::initializer_list<std::string> parts);

/// Chooses the family of the strategy and its algorithm, and sets Draft::needs.
void draw_family(Draft& draft, std::int32_t number);
// Each of these functions returns a field of the scenario, or an empty text. They must be called in
// this order.
std::string draw_cluster(Draft& draft);
std::string draw_strategy(Draft& draft);
std::string draw_workload(Draft& draft);
std::string draw_run(Draft& draft);
std::string draw_conditions(Draft& draft);
std::string draw_communicator(Draft& draft);

}  // namespace tutti::test
