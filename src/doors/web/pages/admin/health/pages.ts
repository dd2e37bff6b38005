/** How the service is: database, disks, storages, runners, background work, versions. */
import type { Config } from '../../../../../platform/config/fields.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { formatBytes } from '../../../parts/code/format_bytes.ts';
import { spell } from '../../../parts/status_badge.ts';
import { type Visit, page } from '../../../page.ts';
import { adminView } from '../admin_nav.ts';
import {
  type DatabaseFacts,
  type RunnerFacts,
  type Space,
  type StorageFacts,
  readHealth,
} from './read_health.ts';
import type { WorkFigures } from '../../../../../platform/queue/inspect_work.ts';

const path = '/admin/health';

const engineNames: Record<DatabaseFacts['engine'], string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

type Health = 'ok' | 'bad' | 'wait';

const marks: Record<Health, Html> = {
  ok: html`<span class="status ok">${icon('check-circle')} Works</span>`,
  wait: html`<span class="status wait">${icon('warning')} Needs attention</span>`,
  bad: html`<span class="status bad">${icon('cross-circle')} Does not answer</span>`,
};

const card = (title: string, health: Health, figures: readonly (readonly [string, Html | string])[]): Html =>
  html`<section class="card"><header><h2>${title}</h2><span class="end">${marks[health]}</span></header><div class="body"><dl class="figures">${figures.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
  )}</dl></div></section>
`;

/** Free bytes below which a disk needs attention. */
const leastFree = 1_000_000_000;

const isShort = (space: Space | null): boolean => space !== null && space.free < leastFree;

const spaceText = (space: Space | null): string =>
  space === null ? 'Not known' : `${formatBytes(space.free)} of ${formatBytes(space.total)}`;

const servicePart = ({ call: { platform, now } }: Visit): Html =>
  card('Service', 'ok', [
    ['Version', `${platform.version} (${platform.revision})`],
    ['Node', process.version],
    ['Running for', spell(process.uptime())],
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Clock', new Date(now).toISOString().slice(0, 19).replace('T', ' ')],
  ]);

const databasePart = (database: DatabaseFacts | null): Html =>
  database === null
    ? card('Database', 'bad', [])
    : card('Database', 'ok', [
        ['Kind', engineNames[database.engine]],
        ['Version', database.version],
        ['Size', formatBytes(database.size)],
      ]);

const filesPart = (config: Config, space: Space | null): Html =>
  card('Files', isShort(space) ? 'wait' : 'ok', [
    ['Data folder', config.data],
    ['Free space', spaceText(space)],
    [
      'Artifacts and uploads',
      config.blob_s3_endpoint === null
        ? 'In the data folder'
        : `Bucket ${config.blob_s3_bucket ?? ''} at ${config.blob_s3_endpoint}`,
    ],
  ]);

const storagePart = ({ name, place, status, space }: StorageFacts): Html =>
  card(`Repository storage ${name}`, status === null ? 'bad' : isShort(space) ? 'wait' : 'ok', [
    ['Place', place],
    ['Free space', spaceText(space)],
    ['git', status?.git ?? 'Not known'],
  ]);

const runnersPart = (facts: RunnerFacts | null): Html => {
  if (facts === null) return card('Runners', 'bad', []);
  const { runners, lately, pending, running } = facts;
  return card('Runners', pending > 0 && lately === 0 ? 'wait' : 'ok', [
    ['Runners', html`<a href="/admin/runners">${runners}</a>`],
    ['Seen within two hours', String(lately)],
    ['Jobs that run', html`<a href="/admin/jobs?scope=running">${running}</a>`],
    ['Jobs that wait', html`<a href="/admin/jobs?scope=pending">${pending}</a>`],
  ]);
};

/** Seconds that due work may wait before the page shows a warning. */
const longestLag = 300;

const workPart = (work: WorkFigures[] | null, now: number): Html => {
  if (work === null) return card('Background work', 'bad', []);
  const sum = (name: 'waiting' | 'running' | 'failed'): number =>
    work.reduce((all, one) => all + one[name], 0);
  const due = work.map((one) => one.due).filter((time) => time !== null);
  const lag = due.length === 0 ? 0 : Math.max(0, now - Math.min(...due)) / 1000;
  const failed = sum('failed');
  return card('Background work', failed > 0 || lag > longestLag ? 'wait' : 'ok', [
    ['Waiting', String(sum('waiting'))],
    ['Running', String(sum('running'))],
    ['Failed', html`<a href="/admin/background_work?state=failed">${failed}</a>`],
    ['Longest delay', spell(lag)],
  ]);
};

export const healthPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => {
      const { platform, now } = visit.call;
      const { database, storages, space, runners, work } = await readHealth(platform);
      const content = html`${servicePart(visit)}${databasePart(database)}${filesPart(platform.config, space)}${storages.map(storagePart)}${runnersPart(runners)}${workPart(work, now)}
<p class="quiet">Gantry does not know of backups. <code>gantry doctor</code> checks the data itself.</p>`;
      return adminView({ path, title: 'Health' }, content);
    },
  }),
];
