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
  bool outlier = false;  ///< the table's record says that it is one: counts for nothing
  double predicted_us = 0;
  ErrorBand band;                ///< of the prediction
  std::optional<Choice> choice;  ///< nothing of sends and receives
};

struct ValidatedTable {
  const CollectiveTable* table = nullptr;
  std::vector<ValidatedRow> rows;  ///< none if it cannot be modelled
  std::string reason;  ///< why not; or why it does not count in the whole; or which rows cannot be
                       ///< read; else empty
  std::optional<ProblemKind> about;  ///< what the first of the reasons is about
  std::vector<std::string> assumed;
  bool given = false;  ///< to a calibration of its system: its rows do not count
  Quality quality;     ///< of rows that are no outliers
  BandQuality bands;
};

/// The statistics of a part of the tables.
struct ValidatedPart {
  std::string by;    ///< "size", "collective", "GPU", "nodes"
  std::string name;  ///< "64 KiB to 1 MiB", …
  Quality quality;
  BandQuality bands;
};

struct Validation {
  std::vector<ValidatedTable> tables;
  std::size_t rows =
      0;  ///< of healthy tables, outliers left out, those that cannot be read among them
  std::size_t outliers = 0;    ///< of them
  std::size_t other_rows = 0;  ///< of tables that are not healthy or have no record: they are not
                               ///< counted in the statistics
  Quality overall;             ///< of those of them that are modelled; every config weighs the same
  BandQuality overall_bands;
  /// With a calibration: the statistics of the same rows without it.
  Quality overall_before;
  BandQuality overall_bands_before;
  std::vector<ValidatedPart> parts;
};

/// The tables with which predictions are calibrated: the predictions of other tables of the same
/// `system` are corrected, and only those count.
struct CalibrateOn {
  std::vector<std::string> tables;  ///< ids
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
