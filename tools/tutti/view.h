#pragma once

#include <string>

namespace tutti::tools {

struct ViewOptions {
  std::string timeline;    ///< empty: the window alone
  std::string screenshot;  ///< picture to write, instead of showing a window
  std::string size;        ///< "1600x900"
  bool dark = false;
};

/// `tutti view`: becomes tutti-view, the window's own program, which lies beside this one where Qt was there to build it.
int view(const ViewOptions& options);

}  // namespace tutti::tools
