/** Formats how the parts of the service are as Prometheus text. Pure. */
import type { ConnectionCounts } from '../../../platform/db/engine.ts';
import type { HealthFacts } from '../../../doors/instance/health/read_health.ts';

export type GaugeFacts = {
  health: HealthFacts;
  /** Bytes of SQLite's write-ahead log; null: PostgreSQL. */
  wal: number | null;
  /** Statistics of the PostgreSQL pool; null on SQLite. */
  connections: ConnectionCounts | null;
  traces: { sent: number; dropped: number } | null;
};

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

const formatGauge = (name: string, help: string, samples: readonly Sample[]): string[] =>
  samples.length === 0
    ? []
    : [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} gauge`,
        ...samples.map(([labels, value]) => {
          // Names of storages have no quotes.
          const list = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
          return `${name}${list.length > 0 ? `{${list.join(',')}}` : ''} ${value}`;
        }),
      ];

/** Returns one sample without labels; nothing if there is no value. */
const unlabelled = (value: number | null | undefined): Sample[] =>
  value === null || value === undefined ? [] : [[{}, value]];

const spaces = ({ space, storages }: HealthFacts): (readonly [string, { free: number; total: number }])[] =>
  [
    { name: 'data', space },
    ...storages.map(({ name, space: own }) => ({ name: `storage:${name}`, space: own })),
  ].flatMap(({ name, space: own }) => (own === null ? [] : [[name, own] as const]));

/** Formats what is known of storages in addition to their disks. */
const formatStorages = ({ storages }: HealthFacts): string[][] => [
  formatGauge(
    'gantry_storage_certificate_expiry_seconds',
    'Seconds until the certificate of a storage ends',
    storages.flatMap(({ name, certificate_ends }): Sample[] =>
      certificate_ends === null
        ? []
        : [[{ storage: name }, Math.round((certificate_ends - Date.now()) / 1000)]],
    ),
  ),
  formatGauge(
    'gantry_gitd_slots',
    'Slots for git processes of a storage, slots that are used, and callers that wait for one',
    storages.flatMap(({ name, status }) =>
      Object.entries(status?.load?.slots ?? {}).flatMap(([kind, counts]) =>
        Object.entries(counts).map(([state, count]): Sample => [{ storage: name, kind, state }, count]),
      ),
    ),
  ),
  formatGauge(
    'gantry_gitd_processes',
    'Git processes of a storage, including those kept for reads',
    storages.flatMap(({ name, status }): Sample[] =>
      unlabelled(status?.load?.processes).map(([, count]) => [{ storage: name }, count]),
    ),
  ),
];

export const formatHealthMetrics = ({ health, wal, connections, traces }: GaugeFacts): string => {
  const { database, storages, hasBlobs, runners, backups } = health;
  const up = (part: string, isUp: boolean): Sample => [{ part }, isUp ? 1 : 0];
  const disks = spaces(health);
  return [
    formatGauge('gantry_part_up', 'Whether a part of the service answers', [
      up('database', database !== null),
      up('blobs', hasBlobs),
      ...storages.map(({ name, status }) => up(`storage:${name}`, status !== null)),
    ]),
    formatGauge(
      'gantry_disk_free_bytes',
      'Free bytes of the disks of the data folder and of storages',
      disks.map(([place, { free }]) => [{ place }, free]),
    ),
    formatGauge(
      'gantry_disk_total_bytes',
      'Bytes of the same disks',
      disks.map(([place, { total }]) => [{ place }, total]),
    ),
    ...formatStorages(health),
    formatGauge('gantry_database_size_bytes', 'Bytes of the database', unlabelled(database?.size)),
    formatGauge('gantry_database_wal_bytes', "Bytes of SQLite's write-ahead log", unlabelled(wal)),
    formatGauge(
      'gantry_database_connections',
      'Connections to PostgreSQL, including idle connections, and requests waiting for a connection',
      Object.entries(connections ?? {}).map(([state, count]) => [{ state }, count]),
    ),
    formatGauge('gantry_jobs', 'Jobs that wait for a runner or run', [
      ...unlabelled(runners?.pending).map(([, count]): Sample => [{ state: 'pending' }, count]),
      ...unlabelled(runners?.running).map(([, count]): Sample => [{ state: 'running' }, count]),
    ]),
    formatGauge('gantry_runners', 'Runners, and runners that requested work within two hours', [
      ...unlabelled(runners?.runners).map(([, count]): Sample => [{ state: 'all' }, count]),
      ...unlabelled(runners?.lately).map(([, count]): Sample => [{ state: 'seen' }, count]),
    ]),
    formatGauge(
      'gantry_backup_failed',
      'Whether the newest backup failed, was interrupted or was found damaged',
      unlabelled(backups === null ? null : Number(backups.error !== null)),
    ),
    formatGauge('gantry_trace_spans', 'Spans that a collector took, and that were dropped', [
      ...unlabelled(traces?.sent).map(([, count]): Sample => [{ outcome: 'sent' }, count]),
      ...unlabelled(traces?.dropped).map(([, count]): Sample => [{ outcome: 'dropped' }, count]),
    ]),
  ]
    .flat()
    .join('\n');
};
