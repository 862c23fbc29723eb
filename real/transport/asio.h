#pragma once

// The only header that includes Boost.Asio. Boost 1.74 in C++20 mode requires that <utility> is
// included before Boost.Asio.

#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
