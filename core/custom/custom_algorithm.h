#pragma once

// Algorithms in files of users: texts of Tutti's language (docs/your-own-algorithm.md), MSCCL's
// XML, execution plans of MSCCL++, or flows of TE-CCL.

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

/// An algorithm for one shape, which creates schedules of any size.
class CustomAlgorithm {
 public:
  virtual ~CustomAlgorithm() = default;
  CustomAlgorithm(const CustomAlgorithm&) = delete;
  CustomAlgorithm& operator=(const CustomAlgorithm&) = delete;

  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  [[nodiscard]] virtual const AlgorithmShape& shape() const = 0;
  /// Inputs are `input_shift` elements after their positions in the output (Contract::input_shift).
  /// An algorithm that does not name inputs expects them at their positions in the output
  /// (reads_inputs). REQUIRES: `elements` divides by the ranks if the collective has blocks.
  /// `element_bytes` matters only for plans whose pipelines state bytes per round.
  [[nodiscard]] virtual std::unique_ptr<Schedule> schedule(std::int64_t elements,
                                                           std::int64_t input_shift, Engine engine,
                                                           std::int64_t element_bytes) const = 0;
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine) const {
    return schedule(elements, input_shift, engine, 4);
  }
  /// Returns true if it reads inputs where they are, so that they need not be copied out of place.
  [[nodiscard]] virtual bool reads_inputs() const = 0;
  /// Returns the number of elements that are sent for this many elements: more if the algorithm
  /// needs chunks of equal size.
  [[nodiscard]] virtual std::int64_t padded(std::int64_t elements) const { return elements; }
  /// Returns the smallest number of elements for which every chunk, and every piece of one, has one
  /// element; nullopt if there is none.
  [[nodiscard]] virtual std::optional<std::int64_t> even_elements() const = 0;
  /// Returns a note on settings of the file that have no effect here; "" if there are none.
  [[nodiscard]] virtual std::string note() const { return ""; }
  /// Returns the number of steps of all ranks.
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  /// Returns the location in the text that describes a step of a schedule; nullopt if the step does
  /// not exist.
  [[nodiscard]] virtual std::optional<Location> place_of(Rank rank, Lane lane,
                                                         std::int64_t index) const = 0;
  /// Returns the reason, with its location, why workers cannot be folded into one; "" if they can,
  /// for chunks of equal size.
  [[nodiscard]] virtual std::string why_not_folded() const = 0;

 protected:
  CustomAlgorithm() = default;
};

/// The parsed text of an algorithm, for any shape.
class AlgorithmText {
 public:
  virtual ~AlgorithmText() = default;
  AlgorithmText(const AlgorithmText&) = delete;
  AlgorithmText& operator=(const AlgorithmText&) = delete;

  /// The name given in the text, such as "ring"; otherwise the file's name.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  /// Returns the names of its parameters.
  [[nodiscard]] virtual std::vector<std::string> parameters() const = 0;
  /// `set` replaces defaults of its parameters. Returns null, and problems with their locations, if
  /// it does not support the shape. Cost: proportional to the text, independent of the number of
  /// ranks.
  [[nodiscard]] virtual std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const = 0;

 protected:
  AlgorithmText() = default;
};

/// Reads a file's text. Returns null, and problems with their locations, if the text is invalid.
std::shared_ptr<const AlgorithmText> read_algorithm(std::string_view text, const std::string& file,
                                                    Problems& problems);

/// Returns a schedule in which every rank copies its input to its position in the output; schedules
/// that expect inputs there need it first, out of place.
std::unique_ptr<Schedule> copy_inputs_of(const Contract& contract, Engine engine);

}  // namespace tutti::core
