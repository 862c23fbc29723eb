#pragma once

// Algorithms in other formats, which are converted to Tutti's language when they are read.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/custom/custom_algorithm.h"

namespace tutti::core::custom {

/// An algorithm from another format, which was converted to text in Tutti's language; `made` was
/// compiled from this text. Hides locations in the converted text, because users see only their own
/// file.
class ConvertedAlgorithm : public CustomAlgorithm {
 public:
  ConvertedAlgorithm(std::shared_ptr<const CustomAlgorithm> made, std::string note)
      : made_(std::move(made)), note_(std::move(note)) {}
  [[nodiscard]] CollectiveKind kind() const override { return made_->kind(); }
  [[nodiscard]] const AlgorithmShape& shape() const override { return made_->shape(); }
  [[nodiscard]] std::unique_ptr<Schedule> schedule(std::int64_t elements, std::int64_t input_shift,
                                                   Engine engine,
                                                   std::int64_t bytes) const override {
    return made_->schedule(elements, input_shift, engine, bytes);
  }
  [[nodiscard]] bool reads_inputs() const override { return made_->reads_inputs(); }
  [[nodiscard]] SwitchUse switch_use() const override { return made_->switch_use(); }
  [[nodiscard]] std::int64_t padded(std::int64_t elements) const override {
    return made_->padded(elements);
  }
  [[nodiscard]] std::optional<std::int64_t> even_elements() const override {
    return made_->even_elements();
  }
  [[nodiscard]] std::string note() const override { return note_; }
  [[nodiscard]] std::int64_t visits_per_rank() const override { return made_->visits_per_rank(); }
  [[nodiscard]] std::int64_t total_steps() const override { return made_->total_steps(); }
  [[nodiscard]] std::optional<Location> place_of(Rank, Lane, std::int64_t) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::string why_not_folded() const override { return made_->why_not_folded(); }

 private:
  std::shared_ptr<const CustomAlgorithm> made_;
  std::string note_;
};

}  // namespace tutti::core::custom
