/** Behaviour book 1.11: a mention creates a note on the issue or merge request, visible to users who see the source. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { seedCommit } from '../../support/repositories/seed_commits.ts';
import { settle } from '../../support/seed_merge_requests.ts';
import { type CodeWorld, pathOf, startCodeWorld } from '../code_world.ts';
import { type Issue, type Reply, type Team, answer } from '../world.ts';

let world: CodeWorld;
let team: Team;
before(async () => {
  world = await startCodeWorld();
  team = await world.codeTeam();
});
after(async () => await world.close());

const issuePath = ({ project_id, iid }: Issue): string => `/projects/${project_id}/issues/${iid}`;
const asked = (as?: string) => (as === undefined ? {} : { as });
const bodiesOf = ({ status, body, text }: Reply): string[] => {
  assert.equal(status, 200, text);
  return (body as { body: string }[]).map((note) => note.body).toReversed();
};
/** Texts of an issue's notes as a user sees them, oldest first. */
const notes = async (issue: Issue, as?: string) =>
  bodiesOf(await world.api(`GET ${issuePath(issue)}/notes`, asked(as)));
const requestNotes = async (request: Issue, as?: string) =>
  bodiesOf(await world.api(`GET ${pathOf(request)}/notes`, asked(as)));
const comment = async (path: string, body: string, as?: string) => {
  const reply = await world.api(`POST ${path}/notes`, { json: { body }, ...asked(as) });
  assert.equal(reply.status, 201, reply.text);
  return reply.body as { id: number };
};
const edit = async (issue: Issue, json: object) => {
  assert.equal((await world.api(`PUT ${issuePath(issue)}`, { json })).status, 200);
};
const settled = async () => await settle(world.gantry);

describe('within a project', () => {
  it('a new issue creates notes on what its title and description mention, by its author', async () => {
    const [a, b] = [await world.issue(team.id), await world.issue(team.id)];
    const request = await world.open(team.id);
    const description = `Like #${b.iid}, !${request.iid}, #${b.iid} again and #99999.`;
    const from = await world.issue(team.id, { title: `As #${a.iid}`, description }, team.developer.token);
    const text = `mentioned in issue #${from.iid}`;
    assert.deepEqual([await notes(a), await notes(b), await requestNotes(request)], [[text], [text], [text]]);
    const { body } = await world.api(`GET ${issuePath(a)}/notes`);
    assert.deepEqual(
      [body[0].system, body[0].author.id, body[0].noteable_id],
      [true, team.developer.id, a.id],
    );
  });
  it('a merge request does the same, also if it closes the issue', async () => {
    const issue = await world.issue(team.id);
    const request = await world.open(team.id, { description: `Closes #${issue.iid}` });
    assert.deepEqual(await notes(issue), [`mentioned in merge request !${request.iid}`]);
  });
  it('a comment mentions for its issue or merge request, when created and when edited', async () => {
    const [a, b, from] = [await world.issue(team.id), await world.issue(team.id), await world.issue(team.id)];
    const { id } = await comment(issuePath(from), `See #${a.iid}`);
    await comment(issuePath(from), `I said #${a.iid}`);
    const json = { body: `See #${a.iid} and #${b.iid}` };
    assert.equal((await world.api(`PUT ${issuePath(from)}/notes/${id}`, { json })).status, 200);
    const text = `mentioned in issue #${from.iid}`;
    assert.deepEqual([await notes(a), await notes(b)], [[text], [text]]);
  });
  it('a comment in a thread of a merge request does the same', async () => {
    const [issue, request] = [await world.issue(team.id), await world.open(team.id)];
    const json = { body: `See #${issue.iid}` };
    assert.equal((await world.api(`POST ${pathOf(request)}/discussions`, { json })).status, 201);
    assert.deepEqual(await notes(issue), [`mentioned in merge request !${request.iid}`]);
  });
  it('an edit creates notes only for new mentions', async () => {
    const [a, b] = [await world.issue(team.id), await world.issue(team.id)];
    const from = await world.issue(team.id, { description: `#${a.iid}` });
    await edit(from, { description: `#${a.iid} #${b.iid}` });
    await edit(from, { description: 'Nothing' });
    await edit(from, { title: `Both #${a.iid} and #${b.iid}` });
    const text = `mentioned in issue #${from.iid}`;
    assert.deepEqual([await notes(a), await notes(b)], [[text], [text]]);
    const [c, request] = [await world.issue(team.id), await world.open(team.id)];
    await world.put(request, { title: `For #${c.iid}` });
    assert.deepEqual(await notes(c), [`mentioned in merge request !${request.iid}`]);
  });
  it('nothing mentions itself, and code spans mention nothing', async () => {
    const [a, b] = [await world.issue(team.id), await world.issue(team.id)];
    await edit(a, { description: `I am #${a.iid}. \`#${b.iid}\`\n\n\`\`\`\n#${b.iid}\n\`\`\`\n` });
    assert.deepEqual([await notes(a), await notes(b)], [['changed the description'], []]);
  });
  it('the target is unchanged, and the note is not counted as a comment', async () => {
    const issue = await world.issue(team.id);
    await world.issue(team.id, { description: `#${issue.iid}` });
    assert.equal((await notes(issue)).length, 1);
    const { body } = await world.api(`GET ${issuePath(issue)}`);
    assert.deepEqual([body.updated_at, body.user_notes_count], [issue.updated_at, 0]);
  });
  it('at most fifty mentions of a text count', async () => {
    const issues: Issue[] = [];
    for (let index = 0; index < 51; index += 1) issues.push(await world.issue(team.id));
    await world.issue(team.id, { description: issues.map(({ iid }) => `#${iid}`).join(' ') });
    assert.deepEqual([(await notes(issues[49])).length, (await notes(issues[50])).length], [1, 0]);
  });
});

describe('of another project', () => {
  it('shows the full reference, for a mention by path or by address', async () => {
    const other = await world.codeTeam();
    const [a, b] = [await world.issue(team.id), await world.issue(team.id)];
    const request = await world.open(team.id);
    const base = `${world.url}/${team.full_path}`;
    const description = `${team.full_path.toUpperCase()}#${a.iid}, ${base}/issues/${b.iid}#note_1 and ${base}/-/merge_requests/${request.iid}.`;
    const from = await world.issue(other.id, { description });
    const text = `mentioned in issue ${other.full_path}#${from.iid}`;
    assert.deepEqual([await notes(a), await notes(b), await requestNotes(request)], [[text], [text], [text]]);
  });
  it('creates no note if the author cannot see the target', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const [issue, secret] = [
      await world.issue(hidden.id),
      await world.issue(team.id, { confidential: true }),
    ];
    const request = await world.open(hidden.id);
    const path = hidden.full_path;
    const description = `${path}#${issue.iid} ${path}!${request.iid} #${secret.iid}`;
    await world.issue(team.id, { description }, team.guest.token);
    assert.deepEqual([await notes(issue), await notes(secret), await requestNotes(request)], [[], [], []]);
  });
});

describe('the visibility of the note', () => {
  const lists = async (path: string, as: string) => {
    const seen: [number, string | null, string | null][] = [];
    for (const list of ['notes', 'discussions']) {
      const { body, headers } = await world.api(`GET ${path}/${list}?per_page=1`, { as });
      seen.push([body.length, headers.get('x-total'), headers.get('x-total-pages')]);
    }
    return seen;
  };
  const one = async (path: string, id: number, as: string) =>
    (await world.api(`GET ${path}/notes/${id}`, { as })).status;

  it('follows access to a private source project, with exact totals', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const issue = await world.issue(team.id);
    const description = `${team.full_path}#${issue.iid}`;
    const from = await world.issue(hidden.id, { description });
    const request = await world.open(hidden.id, { description });
    await comment(issuePath(issue), 'Well');
    const path = issuePath(issue);
    const [text, byRequest] = [
      `mentioned in issue ${hidden.full_path}#${from.iid}`,
      `mentioned in merge request ${hidden.full_path}!${request.iid}`,
    ];
    assert.deepEqual(await notes(issue, hidden.reporter.token), [text, byRequest, 'Well']);
    assert.deepEqual(await notes(issue, hidden.guest.token), [text, 'Well']);
    assert.deepEqual(await notes(issue, team.developer.token), ['Well']);
    assert.deepEqual(await lists(path, hidden.reporter.token), [
      [1, '3', '3'],
      [1, '3', '3'],
    ]);
    assert.deepEqual(await lists(path, team.developer.token), [
      [1, '1', '1'],
      [1, '1', '1'],
    ]);
    const { body } = await world.api(`GET ${path}/discussions`);
    const [{ id: discussion, notes: own }] = body;
    assert.equal(own[0].body, text);
    assert.equal(await one(path, own[0].id, hidden.reporter.token), 200);
    assert.equal(await one(path, own[0].id, team.developer.token), 404);
    const missing = await world.api(`GET ${path}/discussions/${'0'.repeat(40)}`, {
      as: team.developer.token,
    });
    const unseen = await world.api(`GET ${path}/discussions/${discussion}`, { as: team.developer.token });
    assert.deepEqual(answer(unseen), answer(missing));
    const awards = await world.api(`GET ${path}/notes/${own[0].id}/award_emoji`, {
      as: team.developer.token,
    });
    assert.equal(awards.status, 404);
  });
  it('follows access to a confidential source issue; nobody sees it after deletion', async () => {
    const issue = await world.issue(team.id);
    const from = await world.issue(team.id, { confidential: true, description: `#${issue.iid}` });
    const text = `mentioned in issue #${from.iid}`;
    assert.deepEqual(await notes(issue, team.reporter.token), [text]);
    assert.deepEqual(await notes(issue, team.guest.token), []);
    assert.deepEqual(await lists(issuePath(issue), team.guest.token), [
      [0, '0', '1'],
      [0, '0', '1'],
    ]);
    assert.equal((await world.api(`DELETE ${issuePath(from)}`)).status, 204);
    assert.deepEqual(await notes(issue), []);
  });
  it('moves with the issue, as a full reference', async () => {
    const other = await world.codeTeam();
    const issue = await world.issue(team.id);
    const from = await world.issue(team.id, { confidential: true, description: `#${issue.iid}` });
    const { status, body, text } = await world.api(`POST ${issuePath(issue)}/move`, {
      json: { to_project_id: other.id },
    });
    assert.equal(status, 201, text);
    assert.equal((await notes(body))[0], `mentioned in issue ${team.full_path}#${from.iid}`);
    assert.deepEqual(await notes(body, other.guest.token), [`moved from ${team.full_path}#${issue.iid}`]);
  });
});

describe('commits', () => {
  let files = 0;
  const push = async (project: number, message: string, branch: string, by?: number) => {
    const options = { from: 'main', branch, message, ...(by !== undefined && { by }) };
    const sha = await seedCommit(world.gantry, project, { [`${(files += 1)}.txt`]: message }, options);
    await settled();
    return sha;
  };

  it('of any branch create one note, by the pusher', async () => {
    const own = await world.codeTeam();
    const [issue, other] = [await world.issue(own.id), await world.issue(team.id)];
    const message = `Work on #${issue.iid} and ${team.full_path}#${other.iid}`;
    const sha = await push(own.id, message, 'feature', own.developer.id);
    const text = `mentioned in commit ${sha}`;
    assert.deepEqual(await notes(issue), [text]);
    assert.deepEqual(await notes(other), [`mentioned in commit ${own.full_path}@${sha}`]);
    const { body } = await world.api(`GET ${issuePath(issue)}/notes`);
    assert.equal(body[0].author.id, own.developer.id);
    const json = { branch: 'again', ref: 'feature' };
    assert.equal((await world.api(`POST /projects/${own.id}/repository/branches`, { json })).status, 201);
    await settled();
    assert.deepEqual(await notes(issue), [text]);
  });
  it('a closing reference and a merge create no second note', async () => {
    const own = await world.codeTeam();
    const [a, b] = [await world.issue(own.id), await world.issue(own.id)];
    const sha = await push(own.id, `Closes #${a.iid}, see #${b.iid}`, 'main');
    assert.deepEqual(await notes(a), [`closed via commit ${sha}`]);
    assert.deepEqual(await notes(b), [`mentioned in commit ${sha}`]);
    const request = await world.open(own.id, { title: `For #${a.iid}` });
    const merged = await world.api(`PUT ${pathOf(request)}/merge`);
    assert.equal(merged.status, 200, merged.text);
    await settled();
    assert.equal((await notes(a)).at(-1), `mentioned in merge request !${request.iid}`);
    assert.deepEqual(await requestNotes(request), ['merged']);
  });
  it('are visible only to readers of the code, and never mention what the pusher cannot see', async () => {
    const hidden = await world.codeTeam({ visibility: 'private' });
    const [open, own] = [await world.issue(team.id), await world.issue(hidden.id)];
    const sha = await push(hidden.id, `${team.full_path}#${open.iid} #${own.iid}`, 'main');
    assert.deepEqual(await notes(own, hidden.reporter.token), [`mentioned in commit ${sha}`]);
    assert.deepEqual(await notes(own, hidden.guest.token), []);
    assert.deepEqual(await notes(open, team.developer.token), []);
    const secret = await world.issue(hidden.id);
    await push(team.id, `${hidden.full_path}#${secret.iid}`, 'main', team.developer.id);
    assert.deepEqual(await notes(secret), []);
  });
});
