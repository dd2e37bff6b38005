import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { formatAddress, readAddress } from '../../platform/config/parse_values.ts';
import { type GitdSupervisor, superviseGitd } from '../../platform/git/supervise_gitd.ts';
import { makeSystemdNotifier } from '../service/notify_systemd.ts';
import { lockStorage } from '../service/storage_locks.ts';
import { UsageFailure, action, print } from './define_commands.ts';
import { readSettings } from './setting_options.ts';

type Options = { json?: boolean; listen: string; root: string };

const read = <T>(flag: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new UsageFailure(`${flag} ${(error as Error).message}`);
  }
};

/** Returns two promises: of the first signal, and of the second. */
const signals = (): [Promise<void>, Promise<void>] => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const onSignal = (): void => {
    count += 1;
    (count === 1 ? first : second).resolve();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return [first.promise, second.promise];
};

/** Milliseconds between two starts of a process that dies. */
const restartPause = 2_000;

const keepRunning = async (keeper: GitdSupervisor, isStopped: () => boolean): Promise<void> => {
  while (!isStopped()) {
    await keeper.ended().catch(() => undefined);
    if (isStopped()) return;
    process.stderr.write('gantry gitd: the process ended and is restarted\n');
    await new Promise((done) => setTimeout(done, restartPause));
    await keeper.place().catch((error: unknown) => process.stderr.write(`gantry gitd: ${String(error)}\n`));
  }
};

const serve = async (options: Options): Promise<void> => {
  const { gitd_secret: secret, stop_timeout } = readSettings({}).config;
  const [first, second] = signals();
  if (secret === null) throw new UsageFailure('set GANTRY_GITD_SECRET to the same value as the service');
  const listen = read('--listen', () => readAddress(options.listen));
  const root = resolve(options.root);
  const onLine = (line: string): void => void process.stderr.write(`${line}\n`);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const lock = lockStorage(root);
  const systemd = makeSystemdNotifier((error) =>
    onLine(`gantry gitd: cannot notify systemd: ${String(error)}`),
  );
  const keeper = superviseGitd({ root, listen, secret, onLine }, () => randomBytes(6).toString('hex'));
  const { address } = await keeper.place();
  const at = 'port' in address ? formatAddress(address) : '';
  const holder = setInterval(() => undefined, 60_000); // keeps this process running, for the child does not
  let stopped = false;
  print(options, { listen: at, root, pid: process.pid }, `gitd serves ${root} and answers on tcp://${at}`);
  systemd.ready();
  const kept = keepRunning(keeper, () => stopped);
  await first;
  stopped = true;
  systemd.stopping();
  process.stderr.write('gantry gitd: draining; send a second signal to stop at once\n');
  await Promise.race([keeper.drain(), second, wait(stop_timeout * 1000, undefined, { ref: false })]);
  clearInterval(holder);
  await keeper.stop();
  await kept;
  lock.release();
};

export const gitdCommand = (): Command =>
  action('gitd', {
    summary:
      'Keep the repositories of one storage for services elsewhere. What goes over the wire is not encrypted: use a private network.',
    examples: [
      'GANTRY_GITD_SECRET=... gantry gitd --listen 10.0.0.5:9060 --root /var/lib/repositories',
      'GANTRY_REPOSITORY_STORAGES=default,big=tcp://10.0.0.5:9060 GANTRY_GITD_SECRET=... gantry serve',
    ],
  })
    .requiredOption('--listen <host:port>', 'address and port to answer on')
    .requiredOption('--root <folder>', 'folder that holds the repositories')
    .action(serve);
