#pragma once

#include <filesystem>
#include <string>

#include "harness/support/result.hpp"
#include "harness/support/unique_fd.hpp"

namespace symmcts::cli {

// An output folder that is this process's alone for as long as the object lives: two runs into one
// folder would mix their evidence. The lock is on the folder's marker file, and the system drops it
// when the process ends, however that ends.
class OutputFolder {
 public:
  OutputFolder(std::filesystem::path path, UniqueFd lock);
  const std::filesystem::path& path() const { return path_; }  // absolute

 private:
  std::filesystem::path path_;
  UniqueFd lock_;
};

// Makes `name` an empty output folder: creates it, or empties one of ours. Fails, and then removes
// nothing, if there is no name, if the folder holds something that is not ours, or while another
// run has it.
Result<OutputFolder> prepare_output(const std::string& name);

// Writes result.json in the folder `out`. Fails if it could not be written whole.
Status write_result(const std::filesystem::path& out, const std::string& json);

}  // namespace symmcts::cli
