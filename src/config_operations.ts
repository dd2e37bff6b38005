/** Operation of the service: who may monitor it, and how it stops. */
import { type Field, readMatching, readNetworks, readSeconds } from './config_values.ts';

export type OperationsConfig = {
  /** Addresses and ranges that may read health and metrics without a token. */
  monitoring_allow: string[];
  monitoring_token: string | null;
  /** Seconds, from a signal until no connection is accepted any more, and from then until open ones are cut. */
  drain_delay: number;
  stop_timeout: number;
};

export const operationsFields: { [N in keyof OperationsConfig]: Field<OperationsConfig[N]> } = {
  monitoring_allow: {
    variable: 'GANTRY_MONITORING_ALLOW',
    default: '127.0.0.0/8,::1',
    meaning:
      'addresses or ranges that may read /-/health, /-/liveness, /-/readiness and /-/metrics, separated by commas',
    read: readNetworks(0),
  },
  monitoring_token: {
    variable: 'GANTRY_MONITORING_TOKEN',
    default: null,
    meaning: 'token that admits monitors at other addresses: Authorization: Bearer TOKEN',
    secret: true,
    read: readMatching(/^[\x21-\x7e]{16,255}$/, '16 to 255 printable characters'),
  },
  drain_delay: {
    variable: 'GANTRY_DRAIN_DELAY',
    default: '0',
    meaning:
      'seconds after SIGTERM during which readiness answers 503 and requests are still served, so that balancers notice',
    read: readSeconds,
  },
  stop_timeout: {
    variable: 'GANTRY_STOP_TIMEOUT',
    default: '25',
    meaning: 'seconds that open requests and transfers have to finish at a stop, before they are cut',
    read: readSeconds,
  },
};
