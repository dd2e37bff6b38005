/** Mails about changes, through HTTP and a real SMTP server: who gets them, what they say, and when they are sent. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type MailingService, startMailingService } from '../../../test/support/mail.ts';
import { seedCommit } from '../../../test/support/repositories/seed_commits.ts';
import { seedBranch, seedCoded, settle } from '../../../test/support/seed_merge_requests.ts';
import { openVisitor } from '../../../test/support/visitor.ts';
import {
  type SeededProject,
  type SeededUser,
  seedGroup,
  seedMember,
  seedMergeRequest,
  seedProject,
  seedUser,
} from '../../../test/support/seed.ts';
import { makeUnsubscribeLink } from './unsubscribe.ts';

let gantry: MailingService;
let project: SeededProject;
let author: SeededUser;
let reader: SeededUser;
before(
  async () => void (gantry = await startMailingService({ GANTRY_MAIL_REPLY_TO: 'answers@example.com' })),
);
after(async () => await gantry.close());
beforeEach(async () => {
  gantry.setTime(null);
  gantry.smtp.refuse(null);
  [author, reader] = [await seedUser(gantry), await seedUser(gantry)];
  project = await seedProject(gantry);
  await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
  gantry.smtp.clear();
});

const issues = (): string => `/projects/${project.id}/issues`;

const send = async (line: string, json: object, as = author.token) => {
  const { status, body, text } = await gantry.api(line, { json, as });
  assert.ok(status < 300, `${line}: ${status} ${text}`);
  return body;
};

const addIssue = async (json: object): Promise<number> =>
  (await send(`POST ${issues()}`, { title: 'Broken', ...json })).iid;

const setLevel = async (user: SeededUser, json: object, place = `/projects/${project.id}`): Promise<void> =>
  void (await send(`PUT ${place}/notification_settings`, json, user.token));

let commits = 0;

/** Opens a merge request of `author` in a project that `reader` watches. */
const openForWatchers = async () => {
  const coded = await seedCoded(gantry);
  for (const user of [author, reader])
    await seedMember(gantry, { user: user.id, project: coded.id, access_level: 40 });
  await seedBranch(gantry, coded, 'topic');
  const json = { source_branch: 'topic', target_branch: 'main', title: 'Topic' };
  const request = await send(`POST /projects/${coded.id}/merge_requests`, json);
  await settle(gantry);
  await setLevel(reader, { level: 'watch' }, `/projects/${coded.id}`);
  gantry.smtp.clear();
  return { coded, request, path: `/projects/${coded.id}/merge_requests/${request.iid}` };
};

/** The level of `reader` for a place; of the empty one, in general. */
const levelOf = async (place = `/projects/${project.id}`): Promise<string> =>
  (await gantry.api(`GET ${place}/notification_settings`, { as: reader.token })).body.level;

const subjectsTo = async (user: SeededUser): Promise<string[]> =>
  (await gantry.mailsTo(user)).map(({ subject }) => subject);

const reasonsTo = async (user: SeededUser): Promise<(string | undefined)[]> =>
  (await gantry.mailsTo(user)).map(({ header }) => header('x-gitlab-notificationreason'));

describe('a mail', () => {
  it('says what happened, in text and HTML, and threads with others of the record', async () => {
    const iid = await addIssue({ description: `Hello @${reader.username} <b>&</b>` });
    await send(`POST ${issues()}/${iid}/notes`, { body: 'Any *news*?' });
    const [first, second, ...others] = await gantry.mailsTo(reader);
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(others, []);
    assert.equal(first.subject, `${project.path} | Broken (#${iid})`);
    assert.equal(second.subject, `Re: ${project.path} | Broken (#${iid})`);
    assert.match(first.text, new RegExp(`@${author.username}\\) created issue #${iid}: Broken`));
    assert.match(first.text, /<b>&<\/b>/);
    assert.match(first.html, /&lt;b&gt;&amp;&lt;\/b&gt;/);
    assert.match(second.text, /commented on issue #1\n\nAny \*news\*\?/);
    assert.match(
      second.text,
      new RegExp(`View it: ${gantry.url}/${project.full_path}/issues/${iid}#note_\\d+`),
    );
    const thread = first.header('references');
    assert.match(thread ?? '', /^<issue-\d+@127\.0\.0\.1>$/);
    assert.deepEqual([second.header('references'), second.header('in-reply-to')], [thread, thread]);
    const ids = [first, second].map(({ header }) => header('message-id') ?? '');
    assert.match(ids[0] ?? '', new RegExp(`^<event-\\d+\\.${reader.id}@127\\.0\\.0\\.1>$`));
    assert.notEqual(ids[0], ids[1]);
    assert.equal(first.header('auto-submitted'), 'auto-generated');
    assert.match(first.header('list-id') ?? '', /<[a-z0-9-]+\.[a-z0-9-]+\.127\.0\.0\.1>$/);
    assert.match(
      first.header('list-unsubscribe') ?? '',
      /^<http:\/\/127\.0\.0\.1:\d+\/-\/unsubscribe\/[\w.-]+>$/,
    );
    assert.equal(first.header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    assert.equal(first.header('reply-to'), 'answers@example.com');
    assert.match(first.header('from') ?? '', /<gantry@example\.com>$/);
  });

  it('takes no headers from titles, names and project names', async () => {
    const evil = 'x\r\nBcc: victim@example.com\r\n\r\nbody';
    await gantry.api(`PUT /users/${author.id}`, { json: { name: 'Eve\r\nBcc: victim@example.com' } });
    await gantry.api(`PUT /projects/${project.id}`, { json: { name: 'odd: "name" <a@b.c>' } });
    const iid = await addIssue({ title: 'x', description: `@${reader.username}` });
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db.updateTable('issues').set({ title: evil }).where('project_id', '=', project.id).execute(),
    );
    await gantry.service.platform.store.write(
      async ({ db }) =>
        await db
          .updateTable('users')
          .set({ name: 'Eve\r\nBcc: victim@example.com' })
          .where('id', '=', author.id)
          .execute(),
    );
    const [mail] = await gantry.mailsTo(reader);
    assert.ok(mail);
    assert.deepEqual(mail.to, [`${reader.username}@example.com`]);
    assert.deepEqual([mail.count('bcc'), mail.count('subject'), mail.count('from')], [0, 1, 1]);
    assert.match(mail.subject, new RegExp(`x Bcc: victim@example\\.com body \\(#${iid}\\)$`));
    assert.equal(mail.header('to'), `${reader.username}@example.com`);
  });
});

describe('recipients', () => {
  it('are those who are mentioned, assigned or asked for a review, and never the actor', async () => {
    const reviewer = await seedUser(gantry);
    await seedMember(gantry, { user: reviewer.id, project: project.id, access_level: 30 });
    await seedMember(gantry, { user: reader.id, project: project.id, access_level: 30 });
    const { iid } = await seedMergeRequest(gantry, { project: project.id, author: author.id });
    const request = `/projects/${project.id}/merge_requests/${iid}`;
    await send(`PUT ${request}`, { assignee_ids: [reader.id, author.id], reviewer_ids: [reviewer.id] });
    assert.deepEqual(await reasonsTo(reader), ['assigned']);
    assert.deepEqual(await reasonsTo(reviewer), ['review_requested']);
    gantry.smtp.clear();
    await gantry.api(`POST ${request}/approve`, { as: reviewer.token });
    await send(`POST ${request}/notes`, { body: `/request_review @${reviewer.username}` });
    assert.deepEqual(await reasonsTo(reviewer), ['review_requested']);
    assert.deepEqual(await gantry.mailsTo(author), []);
    gantry.smtp.clear();
    await send(`PUT ${request}`, { description: `@${reader.username}`, labels: 'a' });
    await send(`PUT ${request}`, { description: `Now @${reader.username} again` });
    assert.deepEqual(await reasonsTo(reader), ['mentioned']);
    assert.deepEqual(await reasonsTo(reviewer), []);
    await send(`POST ${request}/award_emoji`, { name: 'rocket' }, reader.token);
    assert.deepEqual(await gantry.mailsTo(author), []);
  });

  it('are participants, by comments, closing and reopening', async () => {
    const iid = await addIssue({});
    await send(`POST ${issues()}/${iid}/notes`, { body: 'I see it, too' }, reader.token);
    assert.deepEqual(await reasonsTo(author), ['participating']);
    gantry.smtp.clear();
    await send(`PUT ${issues()}/${iid}`, { state_event: 'close' });
    await send(`PUT ${issues()}/${iid}`, { state_event: 'reopen' });
    const texts = (await gantry.mailsTo(reader)).map(({ text }) => text.split('\n')[0]?.replace(/.*\) /, ''));
    assert.deepEqual(texts, [`closed issue #${iid}: Broken`, `reopened issue #${iid}: Broken`]);
    assert.deepEqual(await gantry.mailsTo(author), []);
  });

  it('are those whose level selects the change, for the project, a group or everything', async () => {
    const group = await seedGroup(gantry);
    project = await seedProject(gantry, { namespace: group.id });
    await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
    const members = await Promise.all(Array.from({ length: 4 }, async () => await seedUser(gantry)));
    const [byProject, byGroup, byOwn, custom] = members as [SeededUser, SeededUser, SeededUser, SeededUser];
    await seedMember(gantry, { user: byOwn.id, group: group.id, access_level: 10 });
    await setLevel(byProject, { level: 'watch' });
    await setLevel(byGroup, { level: 'watch' }, `/groups/${group.id}`);
    await setLevel(byOwn, { level: 'watch' }, '');
    const [byShare, shared] = [await seedUser(gantry), await seedGroup(gantry)];
    await seedMember(gantry, { user: byShare.id, group: shared.id, access_level: 10 });
    await send(`POST /projects/${project.id}/share`, { group_id: shared.id, group_access: 20 });
    await setLevel(byShare, { level: 'watch' }, '');
    await setLevel(reader, { level: 'watch' }, ''); // watches everything, and is no member
    await setLevel(custom, { level: 'custom', close_issue: true });
    const iid = await addIssue({});
    for (const user of [byProject, byGroup, byOwn, byShare])
      assert.deepEqual(await reasonsTo(user), ['watching']);
    for (const user of [reader, custom]) assert.deepEqual(await reasonsTo(user), []);
    gantry.smtp.clear();
    await setLevel(byProject, { level: 'participating' });
    await setLevel(byGroup, { level: 'mention' });
    await send(`PUT ${issues()}/${iid}`, { state_event: 'close' });
    assert.deepEqual(await reasonsTo(custom), ['watching']);
    assert.deepEqual(await reasonsTo(byOwn), ['watching']);
    for (const user of [byProject, byGroup]) assert.deepEqual(await reasonsTo(user), []);
  });

  it('follow the levels disabled and mention, subscriptions and unsubscriptions', async () => {
    const iid = await addIssue({ description: `@${reader.username}` });
    assert.equal((await subjectsTo(reader)).length, 1);
    const comment = async (body: string): Promise<void> => {
      gantry.smtp.clear();
      await send(`POST ${issues()}/${iid}/notes`, { body });
    };
    await setLevel(reader, { level: 'mention' });
    await comment('nobody');
    assert.deepEqual(await reasonsTo(reader), []);
    await comment(`@${reader.username}`);
    assert.deepEqual(await reasonsTo(reader), ['mentioned']);
    await setLevel(reader, { level: 'disabled' });
    await comment(`@${reader.username}`);
    assert.deepEqual(await reasonsTo(reader), []);
    await send(`POST ${issues()}/${iid}/unsubscribe`, {}, reader.token);
    await send(`POST ${issues()}/${iid}/subscribe`, {}, reader.token);
    await comment('subscribed');
    assert.deepEqual(await reasonsTo(reader), ['subscribed']);
    await setLevel(reader, { level: 'watch' });
    await send(`POST ${issues()}/${iid}/unsubscribe`, {}, reader.token);
    await comment('unsubscribed');
    assert.deepEqual(await reasonsTo(reader), []);
    await comment(`@${reader.username}`);
    assert.deepEqual(await reasonsTo(reader), ['mentioned']);
  });

  it('are no blocked users, none in groups without mail, and nobody who may not read it', async () => {
    const group = await seedGroup(gantry);
    project = await seedProject(gantry, { namespace: group.id });
    await seedMember(gantry, { user: author.id, project: project.id, access_level: 40 });
    await gantry.api(`POST /users/${reader.id}/block`);
    const stranger = await seedUser(gantry);
    const description = `@${reader.username} @${stranger.username}`;
    await addIssue({ description, confidential: true });
    for (const user of [reader, stranger]) assert.deepEqual(await gantry.mailsTo(user), []);
    await gantry.api(`PUT /groups/${group.id}`, { json: { emails_disabled: true } });
    await addIssue({ description });
    assert.deepEqual(await gantry.mailsTo(stranger), []);
    await gantry.api(`PUT /groups/${group.id}`, { json: { emails_disabled: false } });
    await gantry.api(`PUT /projects/${project.id}`, {
      json: { visibility: 'public', emails_enabled: false },
    });
    await addIssue({ description });
    assert.deepEqual(await gantry.mailsTo(stranger), []);
    await gantry.api(`PUT /projects/${project.id}`, { json: { emails_enabled: true } });
    await addIssue({ description });
    assert.equal((await gantry.mailsTo(stranger)).length, 1);
  });

  it('are those whom a comment on a commit names, those who commented there, and those who watch', async () => {
    const coded = await seedCoded(gantry, { visibility: 'public' });
    await seedMember(gantry, { user: author.id, project: coded.id, access_level: 40 });
    const watcher = await seedUser(gantry);
    await setLevel(watcher, { level: 'watch' }, `/projects/${coded.id}`);
    const comments = `/projects/${coded.id}/repository/commits/${coded.first}/comments`;
    await send(`POST ${comments}`, { note: 'First' }, reader.token);
    assert.deepEqual(await reasonsTo(watcher), ['watching']);
    assert.deepEqual(await gantry.mailsTo(author), []);
    gantry.smtp.clear();
    const named = await seedUser(gantry);
    await send(`POST ${comments}`, { note: `Look, @${named.username}` });
    assert.deepEqual(await reasonsTo(named), ['mentioned']);
    assert.deepEqual(await reasonsTo(watcher), ['watching']);
    const [mail] = await gantry.mailsTo(reader);
    assert.equal(mail?.header('x-gitlab-notificationreason'), 'participating');
    assert.match(mail?.text ?? '', /commented on commit [0-9a-f]{8}\n\nLook, @/);
    assert.match(mail?.text ?? '', new RegExp(`/-/commit/${coded.first}#note_\\d+\n`));
    gantry.smtp.clear();
    await gantry.api(`PUT /projects/${coded.id}`, { json: { repository_access_level: 'private' } });
    await send(`POST ${comments}`, { note: `Hidden from @${named.username}` });
    for (const user of [named, reader, watcher]) assert.deepEqual(await gantry.mailsTo(user), []);
  });

  it('are the users whose pipelines fail, once for each failure', async () => {
    const coded = await seedCoded(gantry);
    await seedMember(gantry, { user: author.id, project: coded.id, access_level: 40 });
    const report = async (state: string, name: string): Promise<void> =>
      void (await send(`POST /projects/${coded.id}/statuses/${coded.first}`, { state, name, ref: 'main' }));
    await report('running', 'lint');
    assert.deepEqual(await subjectsTo(author), []);
    await report('failed', 'lint');
    await report('running', 'test');
    const [mail, ...others] = await gantry.mailsTo(author);
    assert.deepEqual(others, []);
    assert.match(mail?.subject ?? '', /^[^|:]+ \| Pipeline for main failed \(#\d+\)$/);
    assert.match(mail?.text ?? '', /-\/pipelines\/\d+\n/);
    gantry.smtp.clear();
    await setLevel(author, { level: 'custom', failed_pipeline: false }, '');
    await report('success', 'lint');
    await report('failed', 'test');
    assert.deepEqual(await subjectsTo(author), []);
  });

  it('are the users whose pipelines succeed after a failure, and on request after each success', async () => {
    const coded = await seedCoded(gantry);
    await seedMember(gantry, { user: author.id, project: coded.id, access_level: 40 });
    const finish = async (state: string): Promise<string[]> => {
      gantry.smtp.clear();
      const sha = await seedCommit(gantry, coded.id, { [`file-${(commits += 1)}`]: state });
      await send(`POST /projects/${coded.id}/statuses/${sha}`, { state, name: 'lint', ref: 'main' });
      const mails = await gantry.mailsTo(author);
      return mails.map(({ text }) => /^Your pipeline #\d+ (\w+(?: fixed)?):/m.exec(text)?.[1] ?? text);
    };
    assert.deepEqual(await finish('success'), []);
    assert.deepEqual(await finish('failed'), ['failed']);
    assert.deepEqual(await finish('success'), ['is fixed']);
    assert.deepEqual(await finish('success'), []);
    await setLevel(author, { level: 'watch' }, '');
    assert.deepEqual(await finish('success'), []);
    await setLevel(author, { level: 'custom', success_pipeline: true, fixed_pipeline: false }, '');
    assert.deepEqual(await finish('success'), ['succeeded']);
    assert.deepEqual(await finish('failed'), ['failed']);
    assert.deepEqual(await finish('success'), []);
  });

  it('are participants of a merge request that is pushed to, and those whose level has chosen pushes', async () => {
    const { request, coded } = await openForWatchers();
    const push = async (): Promise<void> => {
      await seedCommit(
        gantry,
        coded.id,
        { [`file-${(commits += 1)}`]: 'x' },
        { branch: 'topic', from: 'topic' },
      );
      await settle(gantry);
    };
    await push();
    assert.deepEqual([await reasonsTo(author), await reasonsTo(reader)], [['participating'], []]);
    gantry.smtp.clear();
    await setLevel(reader, { level: 'custom', push_to_merge_request: true }, `/projects/${coded.id}`);
    await push();
    const [mail] = await gantry.mailsTo(reader);
    assert.match(mail?.text ?? '', new RegExp(`pushed to merge request !${request.iid}: `));
  });

  it('are those who watch a merge request that is merged', async () => {
    const { request, path } = await openForWatchers();
    await settle(gantry);
    await send(`PUT ${path}/merge`, {});
    const texts = (await gantry.mailsTo(reader)).map(({ text }) => text.split('\n')[0] ?? '');
    assert.equal(texts.length, 1);
    assert.match(texts[0] ?? '', new RegExp(`merged merge request !${request.iid}: `));
  });

  it('are those who watch a merge request that gets reviewers or auto-merge, as their level has chosen', async () => {
    const { path, coded } = await openForWatchers();
    const requestReview = async (): Promise<void> => {
      await send(`PUT ${path}`, { reviewer_ids: [] });
      gantry.smtp.clear();
      await send(`PUT ${path}`, { reviewer_ids: [author.id] });
    };
    await requestReview();
    assert.deepEqual(await reasonsTo(reader), ['watching']);
    const place = `/projects/${coded.id}`;
    await setLevel(reader, { level: 'custom', reassign_merge_request: true }, place);
    await requestReview();
    assert.deepEqual(await reasonsTo(reader), []);
    await setLevel(reader, { level: 'custom', change_reviewer_merge_request: true }, place);
    await requestReview();
    assert.deepEqual(await reasonsTo(reader), ['watching']);
    gantry.smtp.clear();
    const { sha } = (await gantry.api(`GET ${path}`)).body;
    await send(`POST ${place}/statuses/${sha}`, { state: 'running', name: 'lint', ref: 'topic' });
    await settle(gantry);
    const merge = async (): Promise<void> => {
      await send(`PUT ${path}/merge`, { merge_when_pipeline_succeeds: true });
      await send(`PUT ${path}/cancel_merge_when_pipeline_succeeds`, {});
    };
    await merge();
    assert.deepEqual(await reasonsTo(reader), []);
    await setLevel(reader, { level: 'custom', merge_when_pipeline_succeeds: true }, place);
    await merge();
    const [mail, ...others] = await gantry.mailsTo(reader);
    assert.deepEqual(others, []);
    assert.match(mail?.text ?? '', /enabled auto-merge for merge request !/);
  });
});

describe('the link of a mail', () => {
  const linkOf = async (): Promise<{ path: string; iid: number }> => {
    const iid = await addIssue({ description: `@${reader.username}` });
    const [mail] = await gantry.mailsTo(reader);
    const url = mail?.header('list-unsubscribe')?.slice(1, -1) ?? '';
    assert.ok(mail?.text.includes(`Unsubscribe: ${url}`));
    gantry.smtp.clear();
    return { path: url.slice(gantry.url.length), iid };
  };

  it('unsubscribes with one click of a mail program, without signing in', async () => {
    const { path, iid } = await linkOf();
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    for (let times = 0; times < 2; times += 1)
      assert.equal((await fetch(gantry.url + path, { method: 'POST', body })).status, 200);
    await send(`POST ${issues()}/${iid}/notes`, { body: 'x' });
    assert.deepEqual(await reasonsTo(reader), []);
    const { body: issue } = await gantry.api(`GET ${issues()}/${iid}`, { as: reader.token });
    assert.equal(issue.subscribed, false);
  });

  it('adds no mail for users who get no more than mentions', async () => {
    const group = await seedGroup(gantry);
    const { id } = await seedProject(gantry, { namespace: group.id });
    const place = `/projects/${id}`;
    const click = async (target_type: 'Project' | 'General'): Promise<void> => {
      const target = { target_type, target_id: target_type === 'Project' ? id : 0 };
      const url = makeUnsubscribeLink(gantry.service.platform, { user_id: reader.id, ...target });
      assert.match(await (await fetch(url, { method: 'POST' })).text(), /Nothing was changed/);
    };
    await setLevel(reader, { level: 'disabled' }, '');
    for (const target of ['Project', 'General'] as const) await click(target);
    assert.deepEqual([await levelOf(place), await levelOf('')], ['global', 'disabled']);
    await setLevel(reader, { level: 'watch' }, '');
    await setLevel(reader, { level: 'disabled' }, `/groups/${group.id}`);
    await click('Project');
    assert.equal(await levelOf(place), 'global');
    await setLevel(reader, { level: 'disabled' }, place);
    await click('Project');
    assert.equal(await levelOf(place), 'disabled');
  });

  it('shows a page that unsubscribes by its button, and says nothing of the record', async () => {
    const { path, iid } = await linkOf();
    const visitor = openVisitor(gantry);
    const shown = await visitor.get(path);
    assert.equal(shown.status, 200);
    assert.ok(!shown.text.includes('Broken'));
    assert.match((await visitor.post(path)).text, /<h1>Unsubscribed<\/h1>/);
    await send(`POST ${issues()}/${iid}/notes`, { body: 'x' });
    assert.deepEqual(await reasonsTo(reader), []);
  });

  it('the link in a mail works only with its signature', async () => {
    const { path, iid } = await linkOf();
    const other = path.replace(/unsubscribe\/\d+/, `unsubscribe/${author.id}`);
    for (const wrong of [other, path.slice(0, -1), `${path}x`, '/-/unsubscribe/x']) {
      assert.equal((await fetch(gantry.url + wrong)).status, 404, wrong);
      assert.equal((await fetch(gantry.url + wrong, { method: 'POST' })).status, 404, wrong);
    }
    await send(`POST ${issues()}/${iid}/notes`, { body: 'x' });
    assert.deepEqual(await reasonsTo(reader), ['participating']);
  });
});

describe('when a mail is sent', () => {
  /** Enqueues the mails of a change, and holds them back. */
  const untilHeldBack = async (): Promise<void> => {
    gantry.smtp.refuse(450);
    await gantry.service.worker.drain();
    gantry.smtp.refuse(null);
    gantry.smtp.clear();
    gantry.setTime(Date.now() + 60_000);
  };

  it('is checked again whether the user may read it', async () => {
    const iid = await addIssue({ description: `@${reader.username}` });
    await untilHeldBack();
    await send(`PUT ${issues()}/${iid}`, { confidential: true });
    assert.deepEqual(await gantry.mailsTo(reader), []);
    const left = gantry.service.platform.store.db.selectFrom('mails').select('id');
    assert.deepEqual(await left.where('user_id', '=', reader.id).execute(), []);
  });

  it('about an internal comment goes to those who may read it, and its text is not kept', async () => {
    await seedMember(gantry, { user: reader.id, project: project.id, access_level: 10 });
    const colleague = await seedUser(gantry);
    await seedMember(gantry, { user: colleague.id, project: project.id, access_level: 20 });
    const iid = await addIssue({});
    assert.deepEqual(await gantry.mailsTo(colleague), []);
    const body = `@${reader.username} @${colleague.username} between us`;
    await send(`POST ${issues()}/${iid}/notes`, { body, internal: true });
    assert.deepEqual(await gantry.mailsTo(reader), []);
    const [mail] = await gantry.mailsTo(colleague);
    assert.match(mail?.text ?? '', /between us/);
    const kept = gantry.service.platform.store.db.selectFrom('mails').select(['subject', 'body']);
    assert.deepEqual(await kept.where('user_id', '=', colleague.id).execute(), [
      { subject: null, body: null },
    ]);
  });

  it('survives an outage of the mail server, and is sent once', async () => {
    await addIssue({ description: `@${reader.username}` });
    await untilHeldBack();
    assert.equal((await subjectsTo(reader)).length, 1);
    gantry.setTime(Date.now() + 600_000);
    assert.equal((await subjectsTo(reader)).length, 1);
  });

  it('is repeated although the clock was set back since its last attempt', async () => {
    const start = Date.now() + 10 * 3_600_000;
    gantry.setTime(start);
    await addIssue({ description: `@${reader.username}` });
    gantry.smtp.refuse(450);
    // The last pause is longer than the waits of other work.
    for (let attempts = 0; attempts < 6; attempts += 1) {
      await gantry.service.worker.drain();
      gantry.setTime(start + (attempts + 1) * 600_000);
    }
    gantry.smtp.refuse(null);
    gantry.smtp.clear();
    gantry.setTime(null);
    assert.equal((await subjectsTo(reader)).length, 1);
  });

  it('is given up if the server refuses the address permanently', async () => {
    await addIssue({ description: `@${reader.username}` });
    gantry.smtp.refuse(550);
    await gantry.service.worker.drain();
    const rows = await gantry.service.platform.store.db
      .selectFrom('mails')
      .select(['state', 'error'])
      .where('user_id', '=', reader.id)
      .execute();
    assert.equal(rows[0]?.state, 'failed');
    assert.match(rows[0]?.error ?? '', /550/);
  });

  it('is combined with others beyond the limit per minute', async () => {
    gantry.setTime(Date.now());
    const iid = await addIssue({ description: `@${reader.username}` });
    for (let n = 0; n < 30; n += 1) await send(`POST ${issues()}/${iid}/notes`, { body: `Note ${n}.` });
    const burst = await gantry.mailsTo(reader);
    assert.equal(burst.length, 20);
    gantry.setTime(gantry.service.platform.clock.now() + 61_000);
    const all = await gantry.mailsTo(reader);
    const text = all.map((mail) => mail.text).join('\n');
    for (let n = 0; n < 30; n += 1) assert.ok(text.includes(`Note ${n}.`), `note ${n}`);
    assert.ok(all.length <= 21, `${all.length} mails`);
    const digest = all.find(({ subject }) => /^\d+ notifications$/.test(subject));
    assert.match(digest?.text ?? '', /^Unsubscribe: http.*\/-\/unsubscribe\/[\w.-]+$/m);
    assert.match(digest?.header('list-id') ?? '', new RegExp(`^${project.full_path} <`));
    const [, link = ''] = /<([^>]+)>/.exec(digest?.header('list-unsubscribe') ?? '') ?? [];
    assert.ok(digest?.text.includes(`Unsubscribe from this project: ${link}`));
    assert.equal(digest?.header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click');
    assert.match(await (await fetch(link, { method: 'POST' })).text(), /no longer get mail of this project/);
    assert.equal(await levelOf(), 'mention');
    assert.equal(await levelOf(''), 'participating');
  });

  it('is combined with those of other projects, with a link that stops all of them', async () => {
    gantry.setTime(Date.now());
    const other = await seedProject(gantry);
    await seedMember(gantry, { user: author.id, project: other.id, access_level: 40 });
    for (const { id } of [project, other]) await setLevel(reader, { level: 'watch' }, `/projects/${id}`);
    for (let n = 0; n < 22; n += 1) await addIssue({ title: `Issue ${n}` });
    await send(`POST /projects/${other.id}/issues`, { title: 'Elsewhere' });
    const mails = await gantry.mailsTo(reader);
    const digest = mails.find(({ subject }) => /^\d+ notifications$/.test(subject));
    const [, link = ''] = /<([^>]+)>/.exec(digest?.header('list-unsubscribe') ?? '') ?? [];
    assert.ok(digest?.text.includes(`Unsubscribe from all projects: ${link}`));
    const done = await (await fetch(link, { method: 'POST' })).text();
    assert.match(done, /any project or group[^<]+also lowered the levels of 2 projects and groups/);
    const places = [`/projects/${project.id}`, `/projects/${other.id}`, ''];
    assert.deepEqual(await Promise.all(places.map(levelOf)), ['mention', 'mention', 'mention']);
    gantry.smtp.clear();
    await addIssue({ title: 'Quiet now' });
    assert.deepEqual(await gantry.mailsTo(reader), []);
  });

  it('waits no longer for the limit per minute if the clock is set back', async () => {
    gantry.setTime(Date.now() + 3_600_000);
    const iid = await addIssue({ description: `@${reader.username}` });
    for (let n = 0; n < 30; n += 1) await send(`POST ${issues()}/${iid}/notes`, { body: `Note ${n}.` });
    assert.equal((await gantry.mailsTo(reader)).length, 20);
    await send(`POST ${issues()}/${iid}/notes`, { body: 'One more.' });
    assert.equal((await gantry.mailsTo(reader)).length, 20);
    gantry.setTime(null);
    assert.match((await gantry.mailsTo(reader)).at(-1)?.text ?? '', /One more\./);
  });
});
