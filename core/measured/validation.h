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
  bool outlier = false;  ///< marked in the table's record; the row is not counted
  double predicted_us = 0;
  ErrorBand band;                ///< error band of the prediction
  std::optional<Choice> choice;  ///< empty for sends and receives
};

struct ValidatedTable {
  const CollectiveTable* table = nullptr;
  std::vector<ValidatedRow> rows;  ///< empty if the table cannot be modelled
  std::string reason;  ///< why it cannot be modelled or is not counted, or which rows cannot be
                       ///< read; otherwise empty
  std::optional<ProblemKind> about;  ///< subject of the first reason
  std::vector<std::string> assumed;
  bool given = false;  ///< true if given to a calibration of its system; its rows do not count
  Quality quality;     ///< quality of the rows that are not outliers
  BandQuality bands;
};

/// The statistics of a part of the tables.
struct ValidatedPart {
  std::string by;    ///< category: "size", "collective", "GPU", "nodes"
  std::string name;  ///< "64 KiB to 1 MiB", …
  Quality quality;
  BandQuality bands;
};

struct Validation {
  std::vector<ValidatedTable> tables;
  /// The rows of healthy tables without outliers, including rows that cannot be read.
  std::size_t rows = 0;
  std::size_t outliers = 0;  ///< outliers in healthy tables
  /// The rows of tables that are not healthy or have no record; the statistics do not count them.
  std::size_t other_rows = 0;
  Quality overall;  ///< quality of the modelled rows; every config has the same weight
  BandQuality overall_bands;
  /// With a calibration: the statistics of the same rows without it.
  Quality overall_before;
  BandQuality overall_bands_before;
  std::vector<ValidatedPart> parts;
};

/// The tables with which predictions are calibrated: the predictions of other tables of the same
/// `system` are corrected, and only those count.
struct CalibrateOn {
  std::vector<std::string> tables;  ///< ids of tables
  Spread spread;
};

/// Predicts every row of every table from the table's facts alone, with its error band from
/// `bands`. REQUIRES: the tables outlive the result.
Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                    const ErrorBands& bands);
/// Does the same with a calibration for each system that has tables in `given`. ERRORS: a name
/// without a table; a table that cannot be modelled.
Expected<Validation> validate(const std::vector<CollectiveTable>& tables,
                              const Parameters& parameters, const ErrorBands& bands,
                              const CalibrateOn& given);

}  // namespace tutti::core::nccl
