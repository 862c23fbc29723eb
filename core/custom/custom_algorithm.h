#pragma once

// Algorithms in users' files: texts in Tutti's language (docs/your-own-algorithm.md), MSCCL XML,
// MSCCL++ execution plans, TE-CCL schedules, or ForestColl's trees.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/custom/algorithm_shape.h"
#include "core/schedule/contract.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The operations that an algorithm needs from switches: none (kNone), multicasts (kMulticast), or
/// sums and possibly multicasts (kReduction). Only some machines have such switches, and real runs
/// support only multicasts.
enum class SwitchUse : std::uint8_t { kNone, kMulticast, kReduction };

constexpr SwitchUse switch_use_of(StepKind kind) {
  if (kind == StepKind::kSwitchReduce) return SwitchUse::kReduction;
  return kind == StepKind::kMulticast ? SwitchUse::kMulticast : SwitchUse::kNone;
}

/// An algorithm for one shape, that is, for a fixed number and arrangement of ranks
/// (AlgorithmShape). Creates schedules for any number of elements.
class CustomAlgorithm {
 public:
  virtual ~CustomAlgorithm() = default;
  CustomAlgorithm(const CustomAlgorithm&) = delete;
  CustomAlgorithm& operator=(const CustomAlgorithm&) = delete;

  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  [[nodiscard]] virtual const AlgorithmShape& shape() const = 0;
  /// Returns a schedule for `elements` elements. If reads_inputs() is true, each rank's input
  /// begins `input_shift` elements after its place in the output (Contract::input_shift). If
  /// reads_inputs() is false, the input must already be at its place in the output. `element_bytes`
  /// is used only by MSCCL++ plans in which pipelines specify a number of bytes per round.
  /// REQUIRES: if the collective has blocks, `elements` is a multiple of the number of ranks.
  [[nodiscard]] virtual std::unique_ptr<Schedule> schedule(std::int64_t elements,
                                                           std::int64_t input_shift, Engine engine,
                                                           std::int64_t element_bytes) const = 0;
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine) const {
    return schedule(elements, input_shift, engine, 4);
  }
  /// True if the algorithm reads the input buffer of an out-of-place collective, so that no copy to
  /// the output buffer is needed first.
  [[nodiscard]] virtual bool reads_inputs() const = 0;
  [[nodiscard]] virtual SwitchUse switch_use() const { return SwitchUse::kNone; }
  /// Returns the number of elements that schedule() needs for a buffer of `elements` elements. The
  /// result is larger than `elements` if the algorithm needs padding to get chunks of equal size.
  [[nodiscard]] virtual std::int64_t padded(std::int64_t elements) const { return elements; }
  /// Returns the smallest number of elements for which all chunks have the same size, and all
  /// pieces into which the algorithm divides chunks have the same size. Returns nullopt if no
  /// number of elements gives equal sizes, or if the number is too large.
  [[nodiscard]] virtual std::optional<std::int64_t> even_elements() const = 0;
  /// Returns a note on the features of the file that Tutti simulates differently from the original
  /// runtime; "" if there are no such features.
  [[nodiscard]] virtual std::string note() const { return ""; }
  /// Returns the total number of steps of all ranks. The number is an estimate if ranks have
  /// different numbers of steps.
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  /// Returns the number of steps that Schedule::visit_ways() visits for all lanes of one rank. For
  /// texts in Tutti's language, the number is an upper bound, because loops can be long. Other
  /// formats list all steps, so the number is the mean over all ranks.
  [[nodiscard]] virtual std::int64_t visits_per_rank() const {
    return total_steps() / shape().ranks;
  }
  /// Returns the location in the text of the statement that generates a step; nullopt if the step
  /// does not exist or its location is unknown.
  [[nodiscard]] virtual std::optional<Location> place_of(Rank rank, Lane lane,
                                                         std::int64_t index) const = 0;
  /// Returns the reason, with its location in the text, why the steps of one worker do not
  /// represent the steps of all workers. Returns "" if the steps of one worker represent those of
  /// all workers, provided that all chunks have the same size.
  [[nodiscard]] virtual std::string why_not_folded() const = 0;

 protected:
  CustomAlgorithm() = default;
};

/// The parsed text of an algorithm. An AlgorithmText can create the algorithm for any shape.
class AlgorithmText {
 public:
  virtual ~AlgorithmText() = default;
  AlgorithmText(const AlgorithmText&) = delete;
  AlgorithmText& operator=(const AlgorithmText&) = delete;

  /// The name that the text states, such as "ring", or the name of the file if the text states
  /// none.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  /// Returns the same file as an algorithm for another collective; null if the file cannot be used
  /// for that collective.
  [[nodiscard]] virtual std::shared_ptr<const AlgorithmText> for_collective(
      CollectiveKind kind) const {
    return static_cast<void>(kind), nullptr;
  }
  /// Returns the names of the algorithm's parameters.
  [[nodiscard]] virtual std::vector<std::string> parameters() const = 0;
  /// Returns the algorithm for a shape. `set` overrides the default values of parameters. Returns
  /// null and adds problems, with their locations, if the algorithm does not support the shape. The
  /// cost is proportional to the length of the text and does not depend on the number of ranks.
  [[nodiscard]] virtual std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const = 0;

 protected:
  AlgorithmText() = default;
};

/// True if the file describes the collective, or can be used for it (for_collective()).
inline bool executes(const AlgorithmText& text, CollectiveKind kind) {
  return text.kind() == kind || text.for_collective(kind) != nullptr;
}

/// Reads the text of a file in any of the formats that are listed at the top of this header.
/// Returns null and adds problems, with their locations, if the text is invalid.
std::shared_ptr<const AlgorithmText> read_algorithm(std::string_view text, const std::string& file,
                                                    Problems& problems);

/// Returns a schedule in which every rank copies its input to its place in the output. An
/// out-of-place collective must run the returned schedule before a schedule that expects the inputs
/// at their places in the output.
std::unique_ptr<Schedule> copy_inputs_of(const Contract& contract, Engine engine);

}  // namespace tutti::core
