#pragma once

#include <string>

#include "core/measured/validation.h"

namespace tutti::tools {

/// A page with a log-log plot of every table, measured and predicted. It needs no other file.
std::string validation_page(const core::nccl::Validation& validation);

}  // namespace tutti::tools
