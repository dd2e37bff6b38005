/** Mails about releases, due issues and moved projects, through HTTP and a real SMTP server. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import { seedCoded } from '../../../test/support/seed_merge_requests.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedIssue,
  seedMember,
  seedProject,
  seedUser,
  setIids,
} from '../../../test/support/seed.ts';
import { type WorkRun, enqueue } from '../../platform/queue/enqueue.ts';
import { dueIssueHandlers, dueIssuesWork } from './due_issues.ts';

let gantry: MailingService;
let author: SeededUser;
let reader: SeededUser;
let other: SeededUser;
before(async () => void (gantry = await startMailingService()));
after(async () => await gantry.close());
beforeEach(async () => {
  [author, reader, other] = [await seedUser(gantry), await seedUser(gantry), await seedUser(gantry)];
  gantry.smtp.clear();
});

const send = async (line: string, json: object, as = author.token) => {
  const { status, body, text, headers } = await gantry.api(line, { json, as });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  assert.equal(headers.get('gantry-ignored-parameters'), null, line);
  return body;
};

const setLevel = async (user: SeededUser, project: { id: number }, json: object): Promise<void> =>
  void (await send(`PUT /projects/${project.id}/notification_settings`, json, user.token));

const reasonsTo = async (user: SeededUser): Promise<(string | undefined)[]> =>
  (await gantry.mailsTo(user)).map(({ header }) => header('x-gitlab-notificationreason'));

describe('a new release', () => {
  let project: SeededProject;
  beforeEach(async () => {
    project = await seedCoded(gantry);
    await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
  });

  const release = async (tag_name: string, json: object = {}) =>
    await send(`POST /projects/${project.id}/releases`, { tag_name, ref: 'main', ...json });

  it('is mailed to those who watch or whose level has chosen it, and not to its author', async () => {
    const quiet = await seedUser(gantry);
    await setLevel(reader, project, { level: 'watch' });
    await setLevel(other, project, { level: 'custom', new_release: true });
    await setLevel(quiet, project, { level: 'custom', new_release: false, new_issue: true });
    await setLevel(author, project, { level: 'watch' });
    await release('v1.0', { name: 'First', description: 'All <new>' });
    const [mail, ...others] = await gantry.mailsTo(reader);
    assert.deepEqual(others, []);
    assert.equal(mail?.subject, `${project.path} | First (v1.0)`);
    assert.match(
      mail?.text ?? '',
      new RegExp(`@${author.username}\\) created release v1\\.0: First\n\nAll <new>`),
    );
    assert.match(mail?.text ?? '', new RegExp(`${project.full_path}/-/releases/v1\\.0\n`));
    const [, link = ''] = /<([^>]+)>/.exec(mail?.header('list-unsubscribe') ?? '') ?? [];
    assert.ok(mail?.text.includes(`Unsubscribe: ${link}`));
    assert.equal(mail?.header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    assert.match(await (await fetch(link)).text(), /You will no longer get mail of this project unless/);
    for (let times = 0; times < 2; times += 1)
      assert.equal((await fetch(link, { method: 'POST' })).status, 200);
    assert.equal((await fetch(`${link}x`, { method: 'POST' })).status, 404);
    const own = `GET /projects/${project.id}/notification_settings`;
    assert.equal((await gantry.api(own, { as: reader.token })).body.level, 'mention');
    assert.deepEqual(await reasonsTo(other), ['watching']);
    for (const user of [quiet, author]) assert.deepEqual(await reasonsTo(user), []);
  });

  it('is not mailed if it is recorded after the fact, edited or deleted', async () => {
    await setLevel(reader, project, { level: 'watch' });
    await release('v0.9', { released_at: '2001-01-01T00:00:00Z' });
    assert.deepEqual(await reasonsTo(reader), []);
    await release('v1.0');
    assert.deepEqual(await reasonsTo(reader), ['watching']);
    await send(`PUT /projects/${project.id}/releases/v1.0`, { name: 'Renamed' });
    await send(`DELETE /projects/${project.id}/releases/v1.0`, {});
    assert.deepEqual(await reasonsTo(reader), ['watching']);
  });

  it('is mailed only to those who may read it when the mail is sent', async () => {
    await setLevel(reader, project, { level: 'watch' });
    gantry.smtp.refuse(450);
    await release('v1.0');
    await gantry.service.worker.drain();
    gantry.smtp.refuse(null);
    gantry.smtp.clear();
    await gantry.api(`PUT /projects/${project.id}`, { json: { releases_access_level: 'private' } });
    gantry.setTime(Date.now() + 60_000);
    assert.deepEqual(await reasonsTo(reader), []);
    const waiting = gantry.service.platform.store.db.selectFrom('mails').select('id');
    assert.deepEqual(await waiting.where('user_id', '=', reader.id).execute(), []);
    gantry.setTime(null);
  });
});

describe('a moved project', () => {
  let project: SeededProject;
  let group: { id: number; full_path: string };
  beforeEach(async () => {
    group = await seedGroup(gantry);
    project = await seedProject(gantry, { owner: author.id });
    await seedMember(gantry, { user: author.id, group: group.id, access_level: 50 });
    await seedMember(gantry, { user: reader.id, project: project.id, access_level: 20 });
  });

  const transfer = async () => await send(`PUT /projects/${project.id}/transfer`, { namespace: group.id });

  it('is mailed to its members, also those of its new group, as their level has chosen', async () => {
    const [muted, unchosen, watcher] = [
      await seedUser(gantry),
      await seedUser(gantry),
      await seedUser(gantry),
    ];
    await seedMember(gantry, { user: other.id, group: group.id, access_level: 30 });
    for (const user of [muted, unchosen])
      await seedMember(gantry, { user: user.id, project: project.id, access_level: 30 });
    await setLevel(muted, project, { level: 'mention' });
    await setLevel(unchosen, project, { level: 'custom', moved_project: false });
    await setLevel(watcher, project, { level: 'watch' }); // no member
    await transfer();
    const [mail, ...others] = await gantry.mailsTo(reader);
    assert.deepEqual(others, []);
    const full_path = `${group.full_path}/${project.path}`;
    assert.equal(mail?.subject, `${project.path} | Project moved (${full_path})`);
    assert.match(mail?.text ?? '', new RegExp(`@${author.username}\\) moved the project to ${full_path}\n`));
    assert.match(
      mail?.text ?? '',
      new RegExp(`git remote set-url origin ${gantry.url}/${full_path}\\.git\n`),
    );
    assert.deepEqual(await reasonsTo(other), ['member']);
    for (const user of [muted, unchosen, watcher, author]) assert.deepEqual(await reasonsTo(user), []);
  });

  it('is not mailed to those whose membership has ended', async () => {
    const [inProject, inGroup] = [await seedUser(gantry), await seedUser(gantry)];
    const shared = await seedGroup(gantry);
    await seedMember(gantry, { user: other.id, group: shared.id, access_level: 30 });
    await send(`POST /projects/${project.id}/share`, { group_id: shared.id, group_access: 30 });
    await seedMember(gantry, { user: inProject.id, project: project.id, access_level: 30 });
    await seedMember(gantry, { user: inGroup.id, group: group.id, access_level: 30 });
    await gantry.api(`PUT /projects/${project.id}`, { json: { visibility: 'public' } });
    await gantry.service.platform.store.write(async ({ db }) => {
      const ended = [inProject.id, inGroup.id, other.id];
      await db
        .updateTable('members')
        .set({ expires_at: '2001-01-01' })
        .where('user_id', 'in', ended)
        .execute();
    });
    await transfer();
    assert.deepEqual(await reasonsTo(reader), ['member']);
    for (const user of [inProject, inGroup, other]) assert.deepEqual(await reasonsTo(user), []);
  });

  it('is mailed after a change of its path, and not after other changes', async () => {
    await send(`PUT /projects/${project.id}`, { description: 'x', name: 'Renamed' });
    assert.deepEqual(await reasonsTo(reader), []);
    await send(`PUT /projects/${project.id}`, { path: `${project.path}-new` });
    assert.deepEqual(await reasonsTo(reader), ['member']);
  });
});

describe('a due issue', () => {
  let project: SeededProject;
  const day = (now: number): string => new Date(now).toISOString().slice(0, 10);
  const length = 86_400_000;
  /** One in the afternoon; each test has a day of its own. */
  let now = Date.parse('2030-01-01T13:00:00Z');
  beforeEach(async () => {
    now += 100 * length;
    gantry.setTime(now);
    project = await seedProject(gantry);
    await seedMember(gantry, { user: author.id, project: project.id, access_level: 20 });
    // The work of the days that were skipped.
    await gantry.service.worker.drain();
    gantry.smtp.clear();
  });
  after(() => gantry.setTime(null));

  const addIssue = async (json: object): Promise<number> =>
    (await send(`POST /projects/${project.id}/issues`, { title: 'Report', ...json })).iid;

  /** Moves the clock to a time of the next day. */
  const nextDay = (minutes: number): void => {
    now = now - (now % length) + length + minutes * 60_000;
    gantry.setTime(now);
  };

  const dueMailsTo = async (user: SeededUser): Promise<string[]> =>
    (await gantry.mailsTo(user))
      .map(({ text }) => text.split('\n')[0] ?? '')
      .filter((line) => line.includes(' is due on '));

  it('is mailed once, the day before, to participants and those whose level has chosen it', async () => {
    const due_date = day(now + 2 * length);
    const iid = await addIssue({ due_date, description: `Ask @${reader.username}` });
    const later = { due_date: day(now + 3 * length), title: 'Later' };
    const laterLine = `Issue #${await addIssue(later)} is due on ${later.due_date}: Later`;
    const closed = await addIssue({ due_date, title: 'Closed' });
    await send(`PUT /projects/${project.id}/issues/${closed}`, { state_event: 'close' });
    const watcher = await seedUser(gantry);
    await setLevel(watcher, project, { level: 'watch' });
    await setLevel(other, project, { level: 'custom', issue_due: true });
    nextDay(49);
    for (const user of [author, reader, other]) assert.deepEqual(await dueMailsTo(user), []);
    now += 60_000;
    gantry.setTime(now);
    const line = `Issue #${iid} is due on ${due_date}: Report`;
    for (const user of [author, reader, other]) assert.deepEqual(await dueMailsTo(user), [line]);
    assert.deepEqual(await dueMailsTo(watcher), []);
    const mail = (await gantry.mailsTo(author)).at(-1);
    assert.equal(mail?.subject, `Re: ${project.path} | Report (#${iid})`);
    assert.match(mail?.header('list-unsubscribe') ?? '', /unsubscribe/);
    nextDay(50);
    for (const user of [author, other]) assert.deepEqual(await dueMailsTo(user), [line, laterLine]);
    assert.deepEqual(await dueMailsTo(reader), [line]);
  });

  it('is mailed on its day if the service stood still the day before', async () => {
    const due_date = day(now + 2 * length);
    const iid = await addIssue({ due_date });
    await addIssue({ due_date: day(now + length), title: 'Missed' });
    nextDay(0);
    nextDay(120);
    assert.deepEqual(await dueMailsTo(author), [`Issue #${iid} is due on ${due_date}: Report`]);
  });

  it('is not mailed later if it is closed or due on another day by then', async () => {
    const due_date = day(now + 2 * length);
    const add = async (title: string): Promise<string> =>
      `/projects/${project.id}/issues/${await addIssue({ title, due_date })}`;
    const [closed, undated, moved, reopened] = [
      await add('Closed'),
      await add('Undated'),
      await add('Later'),
      await add('Reopened'),
    ];
    gantry.smtp.refuse(450);
    nextDay(60);
    await gantry.service.worker.drain();
    gantry.smtp.refuse(null);
    gantry.smtp.clear();
    await send(`PUT ${closed}`, { state_event: 'close' });
    await send(`PUT ${undated}`, { due_date: '' });
    await send(`PUT ${moved}`, { due_date: day(now + 9 * length) });
    for (const state_event of ['close', 'reopen']) await send(`PUT ${reopened}`, { state_event });
    now += 60_000;
    gantry.setTime(now);
    assert.deepEqual(await dueMailsTo(author), [
      `Issue #${reopened.split('/').at(-1)} is due on ${due_date}: Reopened`,
    ]);
    const waiting = gantry.service.platform.store.db.selectFrom('mails').select('id');
    assert.deepEqual(await waiting.where('state', '=', 'pending').execute(), []);
  });

  it('is mailed only to those who see it, if it is confidential, and its text is not kept', async () => {
    await setLevel(reader, project, { level: 'custom', issue_due: true });
    await addIssue({ due_date: day(now + 2 * length), confidential: true });
    nextDay(60);
    assert.deepEqual(await dueMailsTo(reader), []);
    assert.equal((await dueMailsTo(author)).length, 1);
    const kept = gantry.service.platform.store.db.selectFrom('mails').select(['subject', 'body']);
    assert.deepEqual(await kept.where('user_id', '=', author.id).where('kind', '=', 'issue.due').execute(), [
      { subject: null, body: null },
    ]);
  });

  it('is mailed once by several processes at once, also of more issues than one transaction takes', async () => {
    const due_date = day(now + 2 * length);
    const issues = 210;
    const { id } = await seedIssue(gantry, { project: project.id, author: author.id });
    await gantry.service.platform.store.write(async ({ db }) => {
      const { id: _id, ...row } = await db
        .selectFrom('issues')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const rows = Array.from({ length: issues }, (_, at) => ({ ...row, iid: at + 100, due_date }));
      for (let from = 0; from < issues; from += 50)
        await db
          .insertInto('issues')
          .values(rows.slice(from, from + 50))
          .execute();
      await setIids(db, project.id, { issue: issues + 100 });
    });
    nextDay(60);
    const { platform, worker } = gantry.service;
    const handle = dueIssueHandlers(platform)[dueIssuesWork]!;
    const { signal: stopping } = new AbortController();
    const finishIn = async (): Promise<void> => undefined;
    const piece = { id: 0, attempts: 1, noteFinished: () => undefined };
    const alone: WorkRun = { traceparent: null, stopping, finishIn, piece };
    await Promise.all([handle({}, alone), handle({}, alone), handle({}, alone)]);
    await worker.drain();
    const mails = platform.store.db.selectFrom('mails').select('event_key').where('user_id', '=', author.id);
    const keys = (await mails.where('kind', '=', 'issue.due').execute()).map(({ event_key }) => event_key);
    assert.deepEqual([keys.length, new Set(keys).size], [issues, issues]);
    // The limit per minute holds: most are combined.
    const own = gantry.smtp.received.filter(({ to }) => to.includes(`${author.username}@example.com`));
    assert.ok(own.length <= 20, `${own.length}`);
    // A second row of the same work, as after the death of a process, finds nothing to do.
    await platform.store.write(async ({ db }) => await db.deleteFrom('mails').execute());
    await platform.store.write(async (tx) => await enqueue(tx, dueIssuesWork, {}));
    await Promise.all([worker.drain(), handle({}, alone)]);
    assert.deepEqual(await mails.execute(), []);
    const next = platform.store.db.selectFrom('work').select('run_at').where('name', '=', dueIssuesWork);
    assert.equal((await next.execute()).length, 1);
  });
});
