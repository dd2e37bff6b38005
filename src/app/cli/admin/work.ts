/** Commands that list background work and retry failed work. */
import type { Command } from 'commander';
import { StartFailure } from '../../../platform/errors.ts';
import {
  type WorkRow,
  type WorkState,
  listWork,
  retryWork,
  workStates,
} from '../../../platform/queue/inspect_work.ts';
import { formatTime } from '../../../platform/time.ts';
import { type AdminOptions, adminAction, withOpenStore } from './user.ts';
import { UsageFailure, group } from '../command_builders.ts';
import { columns, print } from '../print_result.ts';

type ListOptions = AdminOptions & { state?: string; limit: string };

const readState = (text: string | undefined): WorkState | undefined => {
  const state = workStates.find((one) => one === text);
  if (text !== undefined && state === undefined)
    throw new UsageFailure(`--state must be one of ${workStates.join(', ')}`);
  return state;
};

const readWhole = (name: string, text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageFailure(`${name} must be a whole number`);
  return Number(text);
};

const workJson = ({ payload, created_at, run_at, state, ...row }: WorkRow): object => ({
  ...row,
  state,
  payload: JSON.parse(payload) as object,
  created_at: formatTime(created_at),
  run_at: state === 'failed' ? null : formatTime(run_at),
});

const workCells = ({ id, name, state, attempts, created_at, payload, last_error }: WorkRow): string[] => [
  String(id),
  name,
  state,
  String(attempts),
  formatTime(created_at),
  payload,
  (last_error ?? '').split('\n')[0]?.slice(0, 120) ?? '',
];

const headings = ['id', 'kind', 'state', 'attempts', 'created', 'payload', 'last error'];

const list = async (options: ListOptions): Promise<void> => {
  const [state, limit] = [readState(options.state), readWhole('--limit', options.limit)];
  const { items, total } = await withOpenStore(
    options,
    async ({ db }) => await listWork(db, Date.now(), { state }, { limit, offset: 0 }),
  );
  const more = total > items.length ? `\n${total - items.length} more: use --limit` : '';
  print(
    options,
    { total, items: items.map(workJson) },
    `${columns([headings, ...items.map(workCells)])}${more}`,
  );
};

const retry = async (ids: string[], options: AdminOptions & { all?: boolean }): Promise<void> => {
  if ((ids.length === 0) !== (options.all === true))
    throw new UsageFailure('name the ids of failed work, or use --all');
  const numbers = ids.length === 0 ? null : ids.map((id) => readWhole('an id', id));
  const retried = await withOpenStore(
    options,
    async ({ write }) => await write(async (tx) => await retryWork(tx, numbers)),
  );
  if (numbers !== null && retried < new Set(numbers).size)
    throw new StartFailure(
      `${retried} of ${numbers.length} are retried; the others are not failed: "gantry admin work list --state failed"`,
    );
  print(options, { retried }, `${retried} retried; the service runs them within a second.`);
};

const listCommand = (): Command =>
  adminAction('list', {
    summary: 'List background work, oldest first.',
    examples: ['gantry admin work list --state failed', 'gantry admin work list --json'],
  })
    .option('--state <state>', `only ${workStates.join(', ')}`)
    .option('--limit <number>', 'maximum number of rows', '100')
    .action(list);

const retryCommand = (): Command =>
  adminAction('retry', {
    summary: 'Run failed background work again.',
    examples: ['gantry admin work retry 17 18', 'gantry admin work retry --all'],
  })
    .argument('[id...]', 'ids of failed work')
    .option('--all', 'retry all failed work')
    .action(retry);

export const workCommand = (): Command =>
  group(
    'work',
    {
      summary: 'List background work and retry failed work.',
      examples: ['gantry admin work list --state failed'],
    },
    [listCommand(), retryCommand()],
  );
