import type { Command } from 'commander';
import { readRevision } from '../read_revision.ts';
import { version } from '../../platform/version.ts';
import { action } from './command_builders.ts';
import { print } from './print_result.ts';

export const versionCommand = (): Command =>
  action('version', {
    summary: 'Print the versions of Gantry, Node and SQLite.',
    examples: ['gantry version', 'gantry version --json'],
  }).action((options: { json?: boolean }) => {
    const { node, sqlite = 'unknown' } = process.versions;
    const revision = readRevision();
    print(
      options,
      { version, revision, node, sqlite },
      `gantry ${version} (revision ${revision}, Node ${node}, SQLite ${sqlite})`,
    );
  });
