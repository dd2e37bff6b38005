/** All commands of `gantry`. */
import type { Command } from 'commander';
import { version } from '../../platform/version.ts';
import { group } from './command_builders.ts';

/** Loads each command on demand, so that a start does not load the others. */
const commands = {
  serve: async () => (await import('./serve.ts')).serveCommand(),
  migrate: async () => (await import('./migrate.ts')).migrateCommand(),
  storage: async () => (await import('./storage/storage.ts')).storageCommand(),
  backup: async () => (await import('./backup/backup.ts')).backupCommand(),
  adopt: async () => (await import('./adopt.ts')).adoptCommand(),
  gitd: async () => (await import('./gitd.ts')).gitdCommand(),
  runner: async () => (await import('./runner.ts')).runnerCommand(),
  admin: async () => (await import('./admin/admin.ts')).adminCommand(),
  doctor: async () => (await import('./doctor/doctor.ts')).doctorCommand(),
  config: async () => (await import('./config.ts')).configCommand(),
  version: async () => (await import('./version.ts')).versionCommand(),
};

const about = {
  summary: 'Gantry: self-hosted code hosting that speaks the v4 HTTP/JSON API.',
  examples: [
    'gantry serve                        start the service on http://127.0.0.1:8080',
    'gantry admin user create --help     how to add a user',
    'gantry doctor                       find problems and say how to fix them',
  ],
};

/** Loads the program with the named command; with all commands where the name is unknown, for help and errors. */
export const loadProgram = async (name: string | undefined): Promise<Command> => {
  const matching = Object.entries(commands).filter(([command]) => command === name);
  const made = (matching.length > 0 ? matching : Object.entries(commands)).map(
    async ([, make]) => await make(),
  );
  return group('gantry', about, await Promise.all(made)).version(
    version,
    '-V, --version',
    'print the version',
  );
};
