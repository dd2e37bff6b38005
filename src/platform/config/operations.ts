/** Settings of monitoring access and shutdown. */
import {
  type Field,
  readLimit,
  readMatching,
  readMilliseconds,
  readNetworks,
  readSeconds,
} from './parse_values.ts';

export type OperationsConfig = {
  /** Addresses and CIDR ranges that may read health and metrics without a token. */
  monitoring_allow: string[];
  monitoring_token: string | null;
  /** Seconds from the stop signal until new connections are refused, and from then until open connections are closed. */
  drain_delay: number;
  stop_timeout: number;
  /** Milliseconds from which an SQL statement is logged; 0: none is. */
  slow_statement: number;
  /** Days that the change log is kept; 0: forever. */
  changes_retention: number;
  /** `mailto:` or `https:` address for reports of vulnerabilities; null: none is published. */
  security_contact: string | null;
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
    meaning: 'token for monitoring from other addresses: Authorization: Bearer TOKEN',
    secret: true,
    read: readMatching(/^[\x21-\x7e]{16,255}$/, '16 to 255 printable characters'),
  },
  drain_delay: {
    variable: 'GANTRY_DRAIN_DELAY',
    default: '0',
    meaning:
      'seconds after SIGTERM during which readiness answers 503 and requests are still served, so that load balancers notice',
    read: readSeconds,
  },
  stop_timeout: {
    variable: 'GANTRY_STOP_TIMEOUT',
    default: '25',
    meaning: 'seconds that open requests and transfers have to finish at a stop, before they are aborted',
    read: readSeconds,
  },
  slow_statement: {
    variable: 'GANTRY_SLOW_STATEMENT',
    default: '1000',
    meaning: 'minimum milliseconds of SQL statements that are logged, without their values; 0: none',
    read: readMilliseconds,
  },
  changes_retention: {
    variable: 'GANTRY_CHANGES_RETENTION',
    default: '365',
    meaning: 'days that changes are kept in the log of GET /changes; 0: forever',
    read: readLimit,
  },
  security_contact: {
    variable: 'GANTRY_SECURITY_CONTACT',
    default: null,
    meaning:
      'address for reports of vulnerabilities, mailto:... or https://..., published in /.well-known/security.txt',
    read: readMatching(/^(?:mailto:|https:\/\/)[\x21-\x7e]{1,500}$/, 'a mailto: or https:// address'),
  },
};
