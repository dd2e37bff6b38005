import type { Command } from 'commander';
import { group } from './command.ts';

export const adminCommand = (): Command =>
  group('admin', { summary: 'Users and tokens; also while the service runs.', examples: ['gantry admin user list'] }, []);
