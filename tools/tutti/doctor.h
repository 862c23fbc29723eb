#pragma once

#include <string>

#include "tools/tutti/command.h"

namespace tutti::tools {

struct DoctorOptions {
  std::string format = "text";
};

/// `tutti doctor`: reports what this machine provides for simulations and real runs, what is
/// missing, and how to install it.
int doctor(const DoctorOptions& options, const Environment& environment);

/// Returns the parts that this program was built with, for --version: "window, CUDA module".
std::string features();

}  // namespace tutti::tools
