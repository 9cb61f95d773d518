// The subcommands of the program. Each add_* registers its own; a callback finishes, or throws
// garra::Error with the exit code that the program is to end with.
#pragma once

namespace CLI {
class App;
}

namespace garra::cli {

/// `garra run`, `garra resume`, `garra report`
void add_run_commands(CLI::App& app);

/// `garra status RUN`
void add_status_command(CLI::App& app);

/// `garra submit SCENARIO`
void add_submit_command(CLI::App& app);

/// `garra worker RUN`
void add_worker_command(CLI::App& app);

/// `garra replay RUN --sample I`
void add_replay_command(CLI::App& app);

/// `garra verify RUN`
void add_verify_command(CLI::App& app);

/// `garra check FILE...`
void add_check_command(CLI::App& app);

/// `garra contact ...`
void add_contact_commands(CLI::App& app);

/// `garra contact tables`
void add_contact_tables(CLI::App& contact);

/// `garra contact bench`, a part of the former.
void add_contact_bench_command(CLI::App& contact);

/// `garra chain ...`
void add_chain_commands(CLI::App& app);

/// `garra grasp ...`
void add_grasp_commands(CLI::App& app);

/// `garra platform ...`
void add_platform_commands(CLI::App& app);

/// `garra singularity`, `garra screws`
void add_singularity_commands(CLI::App& app);

/// `garra doctor`
void add_doctor_command(CLI::App& app);

}  // namespace garra::cli
