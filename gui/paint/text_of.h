#pragma once

#include <QString>
#include <string>

#include "core/base/format.h"

namespace tutti::gui {

inline QString text_of(const std::string& text) { return QString::fromStdString(text); }
inline QString text_of(core::Time time) { return text_of(core::show(time)); }

}  // namespace tutti::gui
