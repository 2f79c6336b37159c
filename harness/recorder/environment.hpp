#pragma once

#include <string>

namespace symmcts::recorder {

// What the recorder takes from the process's environment.
struct Environment {
  std::string evidence;  // file to append to, with %r replaced by the rank; empty: record nothing
  bool evidence_named = false;  // SYMMCTS_EVIDENCE is set, if to nothing
  int rank = 0;
  int world = 1;
  int host = 0;         // index of the virtual host
  std::string run;      // what the ranks of one run have in common (SYMMCTS_RUN); empty: not told
  std::string problem;  // a variable that holds no such number; nothing can be recorded then
};

// Reads it. The rank comes from the first of SYMMCTS_RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK,
// SLURM_PROCID and RANK that is set and not empty; where none is it is 0. The only file of the
// recorder that looks at variables (harness/permit reads its own).
Environment read_environment();

}  // namespace symmcts::recorder
