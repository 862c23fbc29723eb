#pragma once

#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/measured/system_of_table.h"
#include "core/nccl/calibration/time_process.h"
#include "core/nccl/time/prediction.h"

namespace tutti::core::nccl {

/// A measured table, with its system and NCCL's choice for each row, so that predict() needs only
/// the parameters of the time model.
class TableModel {
 public:
  /// Makes the model of a table. REQUIRES: the table outlives the model. ERRORS: the table cannot
  /// be modelled; the error states the reason.
  static Expected<TableModel> of(const CollectiveTable& table);

  [[nodiscard]] const CollectiveTable& table() const { return *table_; }
  [[nodiscard]] const TableSystem& system() const { return system_; }
  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  [[nodiscard]] const Communicator& communicator() const { return communicator_; }
  /// Returns NCCL's choice for the row; nullopt for sends and receives, for which NCCL makes no
  /// choice.
  [[nodiscard]] const std::optional<Choice>& choice(std::size_t row) const { return choices_[row]; }
  [[nodiscard]] Prediction predict(std::size_t row, const Parameters& parameters) const;
  /// Returns the row in the form that a calibration needs. `time` is the predicted time of the row.
  [[nodiscard]] TimedPoint point(std::size_t row, const Prediction& time) const;

 private:
  TableModel(const CollectiveTable& table, TableSystem system, CollectiveKind kind,
             Communicator communicator)
      : table_(&table),
        system_(std::move(system)),
        kind_(kind),
        communicator_(std::move(communicator)) {}

  const CollectiveTable* table_;
  TableSystem system_;
  CollectiveKind kind_;
  Communicator communicator_;
  std::vector<Operation> operations_;
  std::vector<std::optional<Choice>> choices_;
};

}  // namespace tutti::core::nccl
