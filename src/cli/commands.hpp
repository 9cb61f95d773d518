// The subcommands of the program. Each add_* registers its own; a callback finishes, or throws garra::Error with the
// program's exit code.
#pragma once

#include "cli/command_line.hpp"

namespace garra::cli {

/// `garra run`, `garra resume`, `garra report`
void add_run_commands(Command app);

/// `garra status RUN`
void add_status_command(Command app);

/// `garra submit SCENARIO`
void add_submit_command(Command app);

/// `garra worker RUN`
void add_worker_command(Command app);

/// `garra replay RUN --sample I`
void add_replay_command(Command app);

/// `garra verify RUN`
void add_verify_command(Command app);

/// `garra check FILE...`
void add_check_command(Command app);

/// `garra contact ...`
void add_contact_commands(Command app);

/// `garra contact tables`
void add_contact_tables(Command contact);

/// `garra contact bench`, a part of the former.
void add_contact_bench_command(Command contact);

/// `garra chain ...`
void add_chain_commands(Command app);

/// `garra grasp ...`
void add_grasp_commands(Command app);

/// `garra platform ...`
void add_platform_commands(Command app);

/// `garra singularity`, `garra screws`
void add_singularity_commands(Command app);

/// `garra papers`
void add_papers_commands(Command app);

/// `garra doctor`
void add_doctor_command(Command app);

}  // namespace garra::cli
