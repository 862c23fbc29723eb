#pragma once

// Algorithms that users bring along, in files of their own: texts of Tutti's language
// (docs/your-own-algorithm.md), MSCCL's XML, execution plans of MSCCL++, or
// flows of TE-CCL.

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

/// An algorithm for one shape: it makes schedules of any size.
class CustomAlgorithm {
 public:
  virtual ~CustomAlgorithm() = default;
  CustomAlgorithm(const CustomAlgorithm&) = delete;
  CustomAlgorithm& operator=(const CustomAlgorithm&) = delete;

  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  [[nodiscard]] virtual const AlgorithmShape& shape() const = 0;
  /// Inputs lie `input_shift` elements behind their places (Contract::input_shift). An algorithm
  /// that names no inputs expects them in their places (reads_inputs). REQUIRES: `elements` divides
  /// by the ranks if the collective has blocks. `element_bytes` only matters for plans whose
  /// pipelines have rounds of so many bytes.
  [[nodiscard]] virtual std::unique_ptr<Schedule> schedule(std::int64_t elements,
                                                           std::int64_t input_shift, Engine engine,
                                                           std::int64_t element_bytes) const = 0;
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine) const {
    return schedule(elements, input_shift, engine, 4);
  }
  /// It reads inputs where they are, so that none have to be copied out of place.
  [[nodiscard]] virtual bool reads_inputs() const = 0;
  /// Elements that travel of so many: more than them if the algorithm only has chunks of one size.
  [[nodiscard]] virtual std::int64_t padded(std::int64_t elements) const { return elements; }
  /// Elements with which each chunk, and each piece of one, has one element; nothing if there are
  /// no such.
  [[nodiscard]] virtual std::optional<std::int64_t> even_elements() const = 0;
  /// Returns a note on settings of the file that have no effect here; "" if there are none.
  [[nodiscard]] virtual std::string note() const { return ""; }
  /// Steps of all ranks.
  [[nodiscard]] virtual std::int64_t total_steps() const = 0;
  /// Where the text describes a step of a schedule; nothing for a step that it does not have.
  [[nodiscard]] virtual std::optional<Location> place_of(Rank rank, Lane lane,
                                                         std::int64_t index) const = 0;
  /// Why workers cannot be folded into one, with the place; "" if they can where chunks are of one
  /// size.
  [[nodiscard]] virtual std::string why_not_folded() const = 0;

 protected:
  CustomAlgorithm() = default;
};

/// The text of an algorithm, for any shape.
class AlgorithmText {
 public:
  virtual ~AlgorithmText() = default;
  AlgorithmText(const AlgorithmText&) = delete;
  AlgorithmText& operator=(const AlgorithmText&) = delete;

  /// "ring", as it calls itself; else the file's name.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual CollectiveKind kind() const = 0;
  /// Names of its parameters.
  [[nodiscard]] virtual std::vector<std::string> parameters() const = 0;
  /// `set`: in place of its parameters' defaults. Null, and problems with their places, if it
  /// cannot be used for the shape. Cost: that of the text, whatever the number of ranks.
  [[nodiscard]] virtual std::shared_ptr<const CustomAlgorithm> for_shape(
      const AlgorithmShape& shape, const std::vector<AlgorithmParameter>& set,
      Problems& problems) const = 0;

 protected:
  AlgorithmText() = default;
};

/// Reads a file's text. Null, and problems with their places, if it is no algorithm.
std::shared_ptr<const AlgorithmText> read_algorithm(std::string_view text, const std::string& file,
                                                    Problems& problems);

/// Every rank copies its input to its place; what a schedule for inputs in their places needs to
/// come first, out of place.
std::unique_ptr<Schedule> copy_inputs_of(const Contract& contract, Engine engine);

}  // namespace tutti::core
