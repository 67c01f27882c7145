#pragma once

#include <string>

namespace headrace::policy {

/// "profile 'PATH'", for messages: with more of the path than they usually have, since who has
/// several profiles must see its end.
std::string profile_name(const std::string& path);

}  // namespace headrace::policy
