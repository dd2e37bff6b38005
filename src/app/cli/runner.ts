import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { readCount, readUrl, runnerExecutors } from '../../platform/config/parse_values.ts';
import { type RunnerReady, getJobLimits, spawnRunner } from '../service/supervise_built_in_runner.ts';
import { StartFailure } from '../../platform/errors.ts';
import { UsageFailure, action } from './command_builders.ts';
import { print } from './print_result.ts';
import { readSettings } from './setting_options.ts';

type Options = {
  json?: boolean;
  url: string;
  token?: string;
  executor: string;
  concurrency: string;
  folder: string;
};

const readOption = <T>(flag: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new UsageFailure(`${flag} ${(error as Error).message}`);
  }
};

const readExecutor = (text: string): string => {
  if (text !== 'none' && runnerExecutors.some((name) => name === text)) return text;
  throw new UsageFailure(`--executor must be one of ${runnerExecutors.slice(0, -1).join(', ')}`);
};

/**
 * Reads the token. An option on the command line is visible to all users of the machine, so the variable is
 * preferred.
 */
const readToken = ({ token }: Options): string => {
  const text = token ?? process.env['RUNNER_TOKEN'];
  if (text === undefined || text === '') throw new UsageFailure('pass --token or set RUNNER_TOKEN');
  return text;
};

const bannerText = ({ executor, notices }: RunnerReady, url: string): string =>
  [...notices, `The runner accepts jobs of ${url} (${executor}); SIGTERM waits for running jobs`].join('\n');

const runRunner = async (options: Options): Promise<void> => {
  const url = readOption('--url', () => readUrl(['http:', 'https:'])(options.url)).replace(/\/ci$/, '');
  const { config } = readSettings({});
  const orders = {
    ...getJobLimits(config),
    url,
    token: readToken(options),
    executor: readExecutor(options.executor),
    // Anyone who can push to that service runs commands here, so plain shells must be chosen explicitly.
    is_local: false,
    concurrency: readOption('--concurrency', () => readCount(options.concurrency)),
    folder: resolve(options.folder),
  };
  const runner = spawnRunner(orders, (line) => void process.stderr.write(`${line}\n`));
  // The first signal lets jobs finish, the second ends them.
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals === 1) runner.child.stdin?.end();
    else runner.child.kill('SIGTERM');
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  const ready = await runner.ready;
  if (ready.executor === null)
    throw new StartFailure(ready.notices.join(' ') || 'no executor works here; see --executor');
  print(options, { ...ready, url, pid: process.pid }, bannerText(ready, url));
  await runner.ended;
  if (signals === 0) throw new StartFailure('the runner ended');
};

export const runnerCommand = (): Command =>
  action('runner', {
    summary:
      'Run the jobs of a Gantry service on another machine, or of any service that speaks the runner protocol.',
    examples: [
      'RUNNER_TOKEN=glrt-... gantry runner --url https://code.example.com',
      'gantry runner --url http://127.0.0.1:8080 --token glrt-... --executor sandbox --concurrency 4',
    ],
  })
    .requiredOption('--url <url>', 'of the service')
    .option('--token <text>', 'runner token from the service (without it: RUNNER_TOKEN)')
    .option('--executor <name>', `how jobs run: ${runnerExecutors.slice(0, -1).join(', ')}`, 'auto')
    .option('--concurrency <count>', 'jobs at once', String(availableParallelism()))
    .option('--folder <folder>', 'working folder of the jobs', './runner-data')
    .action(runRunner);
