#pragma once

#include <string>

#include "gui/editor/scenario_desk.h"

namespace tutti::gui {

/// What this program can run scenarios by: the simulator; and for real, processes of `worker_program` (the tutti command) over
/// TCP, by shared memory, on GPUs.
Workshop make_workshop(const std::string& worker_program);

/// Where the tutti command should be: beside this program.
std::string own_worker_program();

}  // namespace tutti::gui
