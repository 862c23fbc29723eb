#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/measured/quality.h"
#include "core/nccl/calibration/spread.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// A measurement and its prediction.
struct ValidatedRow {
  std::int64_t bytes = 0;
  double measured_us = 0;
  bool outlier = false;  ///< true if the table's record marks the row as an outlier; statistics
                         ///< ignore outliers
  double predicted_us = 0;
  ErrorBand band;                ///< error band of the prediction
  std::optional<Choice> choice;  ///< NCCL's choice; nullopt for sends and receives
};

struct ValidatedTable {
  const CollectiveTable* table = nullptr;
  std::vector<ValidatedRow> rows;  ///< one entry per row; empty if the table cannot be modelled
  std::string reason;  ///< reasons why the table cannot be modelled, why it is not counted, or why
                       ///< rows cannot be read; empty: there are none
  std::optional<ProblemKind> about;  ///< subject of the first reason in `reason`
  std::vector<std::string> assumed;
  bool given = false;  ///< true if the table calibrates the predictions for its system; statistics
                       ///< ignore the rows of such a table
  Quality quality;     ///< quality of all rows except outliers
  BandQuality bands;
};

/// The statistics of a subset of the rows.
struct ValidatedPart {
  std::string by;    ///< criterion by which rows are divided: "size", "collective", "GPU", "nodes"
  std::string name;  ///< the subset: "64 KiB to 1 MiB", …
  Quality quality;
  BandQuality bands;
};

struct Validation {
  std::vector<ValidatedTable> tables;
  /// The number of rows of healthy tables, without outliers. The number includes rows that cannot
  /// be read.
  std::size_t rows = 0;
  std::size_t outliers = 0;  ///< number of outliers in healthy tables
  /// The number of rows of tables that are not healthy or have no record. The statistics ignore the
  /// rows of tables that are not healthy or have no record.
  std::size_t other_rows = 0;
  Quality overall;  ///< quality of the rows that can be modelled; every config has the same weight
  BandQuality overall_bands;
  /// The overall statistics without the calibration; only set if there is a calibration.
  Quality overall_before;
  BandQuality overall_bands_before;
  std::vector<ValidatedPart> parts;
};

/// The tables with which predictions are calibrated. The calibration tables of a system correct the
/// predictions for the other tables of the same system. The statistics count only tables that
/// belong to a calibrated system and are not calibration tables.
struct CalibrateOn {
  std::vector<std::string> tables;  ///< table_id of each table
  Spread spread;
};

/// Predicts every row of every table from the table's facts alone. `bands` contains the error
/// bands.
/// REQUIRES: the tables outlive the result.
Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                    const ErrorBands& bands);
/// Predicts the rows with a calibration for each system that has tables in `given`.
/// ERRORS: `given` names an unknown table, or a table that cannot be modelled.
Expected<Validation> validate(const std::vector<CollectiveTable>& tables,
                              const Parameters& parameters, const ErrorBands& bands,
                              const CalibrateOn& given);

}  // namespace tutti::core::nccl
