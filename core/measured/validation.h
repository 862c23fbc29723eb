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

/// A measured time and its prediction.
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
  std::string reason;  ///< the reasons why the table cannot be modelled or is not included in the
                       ///< statistics, or why rows cannot be read; empty if there are none
  std::optional<ProblemKind> about;  ///< subject of the first reason in `reason`
  std::vector<std::string> assumed;
  bool given = false;  ///< true if the table was used to calibrate the predictions for its system,
                       ///< so that statistics ignore its rows
  Quality quality;     ///< quality of all rows except outliers
  BandQuality bands;
};

/// The statistics of some of the rows, such as those of one GPU model.
struct ValidatedPart {
  std::string by;    ///< criterion by which rows are divided into subsets: "size", "collective",
                     ///< "GPU", "nodes"
  std::string name;  ///< the subset: "64 KiB to 1 MiB", …
  Quality quality;
  BandQuality bands;
};

struct Validation {
  std::vector<ValidatedTable> tables;
  /// The number of rows of the tables that the statistics include. Rows that cannot be read are
  /// counted, but outliers are not. The statistics include a table if its system is healthy. If
  /// there is a calibration, the predictions for the table must also be calibrated with other
  /// tables of the same system.
  std::size_t rows = 0;
  std::size_t outliers = 0;  ///< number of outliers in these tables
  /// The number of rows of all other tables.
  std::size_t other_rows = 0;
  Quality overall;  ///< quality of the rows that can be modelled; every experiment
                    ///< (TableFacts::config) has the same weight
  BandQuality overall_bands;
  /// The overall statistics before the calibration; only set if there is a calibration.
  Quality overall_before;
  BandQuality overall_bands_before;
  std::vector<ValidatedPart> parts;
};

/// The tables that are used for calibration. The predictions for all other tables of the same
/// systems are corrected with these tables. If tables are used for calibration, the statistics
/// include only tables with corrected predictions.
struct CalibrateOn {
  std::vector<std::string> tables;  ///< table_id of each table
  Spread spread;
};

/// Predicts every row of every table from the table's facts alone, without calibration. `bands`
/// contains the error bands.
/// REQUIRES: the tables outlive the result.
Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                    const ErrorBands& bands);
/// Does the same, but calibrates the predictions of each system that has tables in `given`.
/// ERRORS: `given` names an unknown table, or a table that cannot be modelled.
Expected<Validation> validate(const std::vector<CollectiveTable>& tables,
                              const Parameters& parameters, const ErrorBands& bands,
                              const CalibrateOn& given);

}  // namespace tutti::core::nccl
