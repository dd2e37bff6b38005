import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { formatAddress, formatRemoteAddress, readAddress } from '../../platform/config/parse_values.ts';
import { type Certificate, type GitdSupervisor, superviseGitd } from '../../platform/git/supervise_gitd.ts';
import { makeSystemdNotifier } from '../service/notify_systemd.ts';
import { lockStorage, storageLockName } from '../service/storage_locks.ts';
import { UsageFailure, action } from './command_builders.ts';
import { print } from './print_result.ts';
import { requireOwner } from './data_owner.ts';
import { readSettings } from './setting_options.ts';

type Options = { json?: boolean; listen: string; root: string } & CertificateFiles;

type CertificateFiles = { certificate?: string; key?: string };

const read = <T>(flag: string, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw new UsageFailure(`${flag} ${(error as Error).message}`);
  }
};

/**
 * Reads the certificate and key; undefined: no TLS.
 * @throws UsageFailure
 */
const readCertificate = ({ certificate, key }: CertificateFiles): Certificate | undefined => {
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new UsageFailure('--certificate and --key go together');
  return read('--certificate or --key', () => {
    const pair = { cert: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') };
    createSecureContext(pair); // throws unless they fit
    return pair;
  });
};

/** Takes renewed files at SIGHUP. Files that do not fit are reported, and the present certificate stays in use. */
const renewAtHangup = (options: CertificateFiles, supervisor: GitdSupervisor): void => {
  const renew = async (): Promise<void> => {
    const certificate = readCertificate(options);
    if (certificate === undefined) return;
    await supervisor.renew(certificate);
    process.stderr.write('gantry gitd: new connections use the current certificate\n');
  };
  process.on('SIGHUP', () => {
    renew().catch((error: unknown) =>
      process.stderr.write(`gantry gitd: the certificate stays as it was: ${(error as Error).message}\n`),
    );
  });
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

const keepRunning = async (supervisor: GitdSupervisor, isStopped: () => boolean): Promise<void> => {
  while (!isStopped()) {
    await supervisor.ended().catch(() => undefined);
    if (isStopped()) return;
    process.stderr.write('gantry gitd: the process ended and is restarted\n');
    await wait(restartPause);
    await supervisor
      .place()
      .catch((error: unknown) => process.stderr.write(`gantry gitd: ${String(error)}\n`));
  }
};

const serve = async (options: Options): Promise<void> => {
  const { gitd_secret: secret, stop_timeout } = readSettings({}).config;
  const [first, second] = signals();
  if (secret === null) throw new UsageFailure('set GANTRY_GITD_SECRET to the same value as the service');
  const listen = read('--listen', () => readAddress(options.listen));
  const certificate = readCertificate(options);
  const root = resolve(options.root);
  requireOwner(root, true, storageLockName);
  const onLine = (line: string): void => void process.stderr.write(`${line}\n`);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const lock = lockStorage(root);
  const systemd = makeSystemdNotifier((error) =>
    onLine(`gantry gitd: cannot notify systemd: ${String(error)}`),
  );
  const supervisor = superviseGitd({ root, listen, certificate, secret, onLine }, () =>
    randomBytes(6).toString('hex'),
  );
  const { address } = await supervisor.place();
  if (!('port' in address)) throw new Error('gitd has no address');
  renewAtHangup(options, supervisor);
  const holder = setInterval(() => undefined, 60_000); // keeps this process running, for the child does not
  let stopped = false;
  print(
    options,
    { listen: formatAddress(address), root, pid: process.pid },
    `gitd serves ${root} and answers on ${formatRemoteAddress(address)}`,
  );
  systemd.ready();
  const kept = keepRunning(supervisor, () => stopped);
  await first;
  stopped = true;
  systemd.stopping();
  process.stderr.write('gantry gitd: draining; send a second signal to stop immediately\n');
  await Promise.race([supervisor.drain(), second, wait(stop_timeout * 1000, undefined, { ref: false })]);
  clearInterval(holder);
  await supervisor.stop();
  await kept;
  lock.release();
};

export const gitdCommand = (): Command =>
  action('gitd', {
    summary:
      'Keep the repositories of one storage for services elsewhere. What goes over the wire is encrypted only with a certificate. SIGHUP reads it again.',
    examples: [
      'GANTRY_GITD_SECRET=... gantry gitd --listen 10.0.0.5:9060 --root /var/lib/repositories --certificate gitd.crt --key gitd.key',
      'GANTRY_REPOSITORY_STORAGES=default,big=tls://10.0.0.5:9060 GANTRY_GITD_CA=ca.crt GANTRY_GITD_SECRET=... gantry serve',
    ],
  })
    .requiredOption('--listen <host:port>', 'address and port to answer on')
    .requiredOption('--root <folder>', 'folder that holds the repositories')
    .option('--certificate <file>', 'certificate chain for TLS (PEM)')
    .option('--key <file>', 'private key of the certificate (PEM)')
    .action(serve);
