import { randomBytes } from 'node:crypto';
import { readConfig } from '../config.ts';
import { startService } from '../main.ts';
import { makeLog } from '../service/log.ts';
import { systemClock } from '../time.ts';

const { config } = readConfig({}, process.env);
const service = await startService({
  config,
  clock: systemClock,
  random: randomBytes,
  log: makeLog(config),
  onFatal: () => process.exit(1),
});
process.stderr.write(`Gantry answers on ${service.url}\n`);
process.once('SIGTERM', () => void service.close().then(() => process.exit(0)));
