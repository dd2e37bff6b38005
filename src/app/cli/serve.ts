import { randomBytes } from 'node:crypto';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { Config } from '../../platform/config/fields.ts';
import type { Service } from '../main.ts';
import { passwordFile } from '../service/first_start.ts';
import { makeLog } from '../service/log.ts';
import { makeSystemdNotifier, type SystemdNotifier } from '../service/notify_systemd.ts';
import { systemClock } from '../../platform/time.ts';
import { version } from '../../platform/version.ts';
import { action } from './command_builders.ts';
import { print } from './print_result.ts';
import { readDataSettings } from './data_owner.ts';
import { addSettings } from './setting_options.ts';

/** Milliseconds between closing open connections and the end of the process. */
const exitDelay = 500;

const warnRoot = (): void => {
  if (process.getuid?.() !== 0) return;
  process.stderr.write('gantry: warning: running as root; use a dedicated user instead\n');
};

const passwordText = (config: Config, rootPassword: string): string =>
  [
    'This is the first start. Sign in as the administrator:',
    '  user      root',
    `  password  ${rootPassword}`,
    `It is not shown again; ${join(config.data, passwordFile)} holds it, too: delete that file once you know it.`,
  ].join('\n');

/** Returns what people must know and the log does not say. */
const bannerLines = (config: Config, { url, rootPassword }: Service, log: Logger): string[] => [
  ...(log.isLevelEnabled('info') ? [] : [`Gantry ${version} answers on ${url}`]),
  ...(rootPassword === null ? [] : [passwordText(config, rootPassword)]),
];

const bannerJson = (config: Config, { url, rootPassword, platform }: Service): object => ({
  url,
  version,
  revision: platform.revision,
  pid: process.pid,
  ...(rootPassword !== null && {
    root_password: rootPassword,
    root_password_file: join(config.data, passwordFile),
  }),
});

type Running = { service: Service; log: Logger; systemd: SystemdNotifier };

/** Fails readiness for the drain delay, then answers open requests until the stop timeout. */
const stop = async ({ service, log, systemd }: Running, signal: string): Promise<void> => {
  const { drain_delay, stop_timeout } = service.platform.config;
  systemd.stopping();
  service.drain();
  if (drain_delay > 0) {
    log.info({ signal, seconds: drain_delay }, 'draining');
    await wait(drain_delay * 1000);
  }
  log.info({ signal }, 'stopping');
  const cut = setTimeout(() => {
    log.warn('closing open connections');
    service.cut();
  }, stop_timeout * 1000);
  const end = setTimeout(() => process.exit(0), stop_timeout * 1000 + exitDelay);
  await service.close();
  clearTimeout(cut);
  clearTimeout(end);
  log.info('stopped');
};

/** Resolves when a signal has stopped the service. A second signal ends the process immediately. */
const untilStopped = async (running: Running): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let stopping = false;
  const onSignal = (signal: string): void => {
    if (stopping) process.exit(1);
    stopping = true;
    stop(running, signal).then(resolve, reject);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  await promise;
};

const serve = async (options: { json?: boolean; [option: string]: unknown }): Promise<void> => {
  const { config, origin: configOrigin } = readDataSettings(options);
  if (options['runner'] === false) {
    config.runner_executor = 'none';
    configOrigin.runner_executor = 'flag';
  }
  const log = makeLog(config);
  const systemd = makeSystemdNotifier((err) => log.warn({ err }, 'cannot notify systemd'));
  systemd.starting();
  const onFatal = (error: unknown): void => {
    log.fatal({ err: error }, 'the store failed: the process ends');
    process.exit(1);
  };
  // Loaded here, so that other commands do not load the service.
  const { startService } = await import('../main.ts');
  const parts = { config, configOrigin, clock: systemClock, random: randomBytes, log, onFatal };
  const service = await startService(parts);
  const stopped = untilStopped({ service, log, systemd });
  warnRoot();
  if (options.json === true) print(options, bannerJson(config, service), '');
  else for (const line of bannerLines(config, service, log)) process.stderr.write(`${line}\n`);
  log.info({ url: service.url, version }, 'listening');
  systemd.ready();
  flushCompileCache(); // speeds up the next start
  await stopped;
  process.exit(0); // do not wait for anything that still holds the process
};

export const serveCommand = (): Command =>
  addSettings(
    action('serve', {
      summary:
        'Start the service. Logs go to standard output; SIGTERM and SIGINT stop it, open requests answered.',
      examples: [
        'gantry serve',
        'gantry serve --data /var/lib/gantry --listen 0.0.0.0:8080 --external-url https://code.example.com',
        'GANTRY_DATABASE_URL=postgres://gantry:secret@db/gantry gantry serve',
        'gantry serve --no-runner             jobs are for runners elsewhere',
      ],
    }),
  )
    .option('--no-runner', 'start no built-in runner')
    .action(serve);
