/** Health of the service: database, disks, storages, runners, background work, versions, backups. */
import type { Config } from '../../../../../platform/config/fields.ts';
import { object } from '../../../../../platform/http/schema.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { formatBytes } from '../../../../../platform/format_bytes.ts';
import { formatDuration } from '../../../parts/times/format_duration.ts';
import { moment, momentOr } from '../../../parts/timestamp.ts';
import { type Visit, page, redirect } from '../../../page.ts';
import { formPage } from '../../../parts/fields/form_page.ts';
import { form } from '../../../parts/form.ts';
import { redirectWithProblems } from '../../../parts/form_problems.ts';
import { adminView } from '../../../parts/frame/admin_layout.ts';
import { versionLink } from '../version_link.ts';
import {
  type BackupFacts,
  type DatabaseFacts,
  type RunnerFacts,
  type Space,
  type StorageFacts,
  readHealth,
} from '../../../../instance/health/read_health.ts';
import {
  type Judgement,
  judgeBackups,
  judgeRunners,
  judgeSpace,
  judgeStorage,
  judgeWork,
  sumWork,
} from '../../../../instance/health/judge_health.ts';
import {
  findRequestProblem,
  isBackupRequested,
  requestBackup,
} from '../../../../instance/health/request_backup.ts';
import type { WorkFigures } from '../../../../../platform/queue/inspect_work.ts';

const path = '/admin/health';
const backupPath = `${path}/backup`;

const engineNames: Record<DatabaseFacts['engine'], string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

const marks: Record<Judgement, Html> = {
  ok: html`<span class="status ok">${icon('check-circle')} OK</span>`,
  attention: html`<span class="status wait">${icon('warning')} Needs attention</span>`,
  failed: html`<span class="status bad">${icon('cross-circle')} Unavailable</span>`,
};

type Figures = readonly (readonly [string, Html | string])[];

/** @param below content below the figures */
const card = (title: string, health: Judgement, figures: Figures, below: Html | null = null): Html =>
  html`<section class="card"><header><h2>${title}</h2><span class="end">${marks[health]}</span></header><div class="body"><dl class="figures">${figures.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
  )}</dl>${below}</div></section>
`;

const spaceText = (space: Space | null): string =>
  space === null ? 'Unknown' : `${formatBytes(space.free)} of ${formatBytes(space.total)}`;

const servicePart = ({ call: { platform, now } }: Visit): Html =>
  card('Service', 'ok', [
    ['Version', versionLink(platform)],
    ['Node', process.version],
    ['Running for', formatDuration(process.uptime())],
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Clock', new Date(now).toISOString().slice(0, 19).replace('T', ' ')],
  ]);

const databasePart = (database: DatabaseFacts | null): Html =>
  database === null
    ? card('Database', 'failed', [])
    : card('Database', 'ok', [
        ['Engine', engineNames[database.engine]],
        ['Version', database.version],
        ['Size', formatBytes(database.size)],
      ]);

const filesPart = (config: Config, space: Space | null): Html =>
  card('Data folder', judgeSpace(space), [
    ['Path', config.data],
    ['Free space', spaceText(space)],
  ]);

const blobsPart = (config: Config, hasBlobs: boolean): Html =>
  card('Artifacts and uploads', hasBlobs ? 'ok' : 'failed', [
    [
      'Location',
      config.blob_s3_endpoint === null
        ? 'In the data folder'
        : `Bucket ${config.blob_s3_bucket ?? ''} at ${config.blob_s3_endpoint}`,
    ],
  ]);

const storagePart = (facts: StorageFacts, now: number): Html =>
  card(`Repository storage ${facts.name}`, judgeStorage(facts, now), [
    ['Location', facts.place],
    ['Free space', spaceText(facts.space)],
    ['git', facts.status?.git ?? 'Unknown'],
    ...(facts.certificate_ends === null
      ? []
      : [['Certificate valid until', momentOr(facts.certificate_ends, '')] as const]),
  ]);

const runnersPart = (facts: RunnerFacts | null): Html => {
  if (facts === null) return card('Runners', 'failed', []);
  const { runners, lately, pending, running } = facts;
  return card('Runners', judgeRunners(facts), [
    ['Runners', html`<a href="/admin/runners">${runners}</a>`],
    ['Seen in the last 2 hours', String(lately)],
    ['Running jobs', html`<a href="/admin/jobs?scope=running">${running}</a>`],
    ['Pending jobs', html`<a href="/admin/jobs?scope=pending">${pending}</a>`],
  ]);
};

const workPart = (work: WorkFigures[] | null, now: number): Html => {
  if (work === null) return card('Background work', 'failed', []);
  const sums = sumWork(work, now);
  return card('Background work', judgeWork(sums), [
    ['Waiting', html`<a href="/admin/background_work?state=waiting">${sums.waiting}</a>`],
    ['Running', html`<a href="/admin/background_work?state=running">${sums.running}</a>`],
    ['Failed', html`<a href="/admin/background_work?state=failed">${sums.failed}</a>`],
    ['Longest delay', formatDuration(sums.lag_seconds)],
  ]);
};

/** Renders the button that starts a backup, where the configuration names a place and none is on its way. */
const backupButton = (visit: Visit, isBusy: boolean): Html | null =>
  isBusy || findRequestProblem(visit.call.platform.config) !== null
    ? null
    : form(visit, { action: backupPath, submit: 'Back up now' });

const backupProgress = ({ running }: BackupFacts, isRequested: boolean): Figures => {
  if (running === null) return isRequested ? [['Progress', 'Requested']] : [];
  return [
    ['Running since', moment(running.started_at)],
    ['Progress', running.progress ?? 'Started'],
  ];
};

const backupsPart = (visit: Visit, facts: BackupFacts | null, isRequested: boolean): Html => {
  if (facts === null) return card('Backups', 'failed', []);
  const { platform, now } = visit.call;
  const { backup_to, backup_schedule } = platform.config;
  const { finished_at, verified_at, error, running, next_at } = facts;
  const figures: Figures = [
    ['Location', backup_to ?? 'Not configured'],
    ['Schedule', backup_schedule === null ? 'None' : html`<code>${backup_schedule}</code> (UTC)`],
    ['Last backup', momentOr(finished_at, 'None')],
    ['Last verified backup', momentOr(verified_at, 'None')],
    ...(error === null ? [] : [['Error of the newest', error] as const]),
    ...backupProgress(facts, isRequested),
    ['Next backup', momentOr(next_at, 'None scheduled')],
  ];
  return card(
    'Backups',
    judgeBackups(facts, now),
    figures,
    backupButton(visit, isRequested || running !== null),
  );
};

/** Commands without a page: they read all data, and work while no page can be shown. */
const commands: readonly (readonly [command: string, meaning: Html | string])[] = [
  [
    'gantry backup create --to PLACE --verify',
    html`Makes a backup at any place, and proves it by restoring it: <a href="/help/backup">Backup and restore</a>`,
  ],
  [
    'gantry doctor',
    html`Checks programs, database, secrets, storages and background work, and says what to do: <a href="/help/operations">Operations</a>`,
  ],
  ['gantry doctor --thorough', 'Also reads every page of the database, every repository and every file.'],
];

const commandsPart = html`<section class="card" aria-labelledby="commands_title"><header><h2 id="commands_title">On the command line of the service's machine</h2></header><ul class="list bare">${commands.map(
  ([command, meaning]) =>
    html`<li><span class="title"><code>${command}</code></span><span class="meta"><span>${meaning}</span></span></li>
`,
)}</ul></section>`;

export const healthPages = [
  page({
    method: 'GET',
    path,
    audience: 'admin',
    params: object({}),
    handle: async (visit) => {
      const { platform, now } = visit.call;
      const { database, storages, space, hasBlobs, runners, work, backups } = await readHealth(platform);
      const isRequested = backups !== null && (await isBackupRequested(platform.store.db, now));
      const content = html`${servicePart(visit)}${databasePart(database)}${filesPart(platform.config, space)}${blobsPart(platform.config, hasBlobs)}${storages.map((one) => storagePart(one, now))}${runnersPart(runners)}${workPart(work, now)}${backupsPart(visit, backups, isRequested)}
${commandsPart}`;
      return adminView({ path, title: 'Health' }, content);
    },
  }),
  formPage({
    path: backupPath,
    audience: 'admin',
    address: {},
    fields: {},
    find: async () => await Promise.resolve(null),
    fromSent: () => null,
    run: async ({ call }) => {
      await requestBackup(call);
      return redirect(path, 'A backup was requested. Reload this page for its progress.');
    },
    view: (_visit, _loaded, { problems }) => redirectWithProblems(path, problems),
  }),
];
