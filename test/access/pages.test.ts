/** Asks every page as every kind of person, and expects what its endpoint answers them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deriveCsrfToken, sessionCookie } from '../../src/core/access/credentials/session_token.ts';
import { pagePaths } from '../../src/doors/web/routes.ts';
import { startSession } from '../../src/identity/sessions/start_session.ts';
import { type TestService, startTestService } from '../support/service.ts';
import { isDrawn, sample } from '../support/run/sample.ts';
import { type Situation, type Visibility, expectedAnswer } from './expected.ts';
import { contentOf, differences } from './matrix.ts';
import { type PageRow, findPageRows } from './page_rows.ts';
import { type Wire, failWith, forEachAtOnce, openWire } from './pipelined_requests.ts';
import { type Place, type World, makeGroupPlace, makePlace, makeWorld } from './world.ts';

const { found: pageRows, without, unused } = findPageRows(pagePaths.flatMap(({ lines }) => lines));

test('has a row for every page, and a page for every row', () => {
  assert.deepEqual({ without, unused }, { without: [], unused: [] });
});

let gantry: TestService;
let world: World;
let wire: Wire;
/** Secrets of sessions by the name of the person; people who differ by their token have none. */
const sessions = new Map<string, string>();

before(async () => {
  gantry = await startTestService({ GANTRY_LOG_LEVEL: 'error' });
  world = await makeWorld(gantry);
  wire = openWire(gantry.url);
  const { store, random } = gantry.service.platform;
  for (const { name, user_id } of world.people.all.values()) {
    if (user_id === null || /owner,|blocked|admin as/.test(name)) continue;
    const source = { ip: '127.0.0.1', userAgent: 'test' };
    const secret = await startSession({ store, random }, { user_id, provider: null, source, replaced: null });
    sessions.set(name, secret);
  }
});
after(async () => {
  wire.close();
  await gantry.close();
});

type Seen = 'shown' | 'refused' | 'missing' | 'sent to sign in';

type Cell = { row: PageRow; person: string; place: Place | null };

const kindOf = ({ line }: PageRow): 'project' | 'group' | 'instance' =>
  line.includes('/-/projects/:project')
    ? 'project'
    : line.includes('/-/groups/:group')
      ? 'group'
      : 'instance';

/** What is sent: `<label_id>` stands for the id of that record of the place. */
const sentOf = ({ row, place, person }: Cell): Record<string, string> => {
  const records = row.line.includes('/merge_requests') ? place?.requests : place?.issues;
  const record = records?.get('plain');
  const known = { ...place?.names, ...(person === 'guest and author' ? record?.of_guest : record?.usual) };
  return Object.fromEntries(
    Object.entries(row.sent).map(([name, text]) => {
      const key = /^<(\w+)>$/.exec(text)?.[1];
      if (key !== undefined && known[key] === undefined) throw new Error(`pages.txt: no place has ${text}`);
      return [name, key === undefined ? text : String(known[key])];
    }),
  );
};

const pathOf = (cell: Cell): string => {
  const { row, place } = cell;
  const sent = sentOf(cell);
  const [, path = ''] = row.line.split(' ');
  const names: Record<string, string | number> = {
    project: place?.names['project_full_path'] ?? '',
    group: place?.names['group_full_path'] ?? '',
    ...sent,
  };
  const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const value = String(names[name] ?? '');
    if (value === '') throw new Error(`pages.txt: ${row.line} needs ${name}`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams(sent).toString();
  return row.line.startsWith('GET') && query !== '' ? `${filled}?${query}` : filled;
};

/** Returns a word of `Seen`, or another answer in full. */
const seenOf = ({ status, headers, text }: Awaited<ReturnType<Wire['send']>>): string => {
  const { location = '' } = headers;
  if (location.startsWith('/users/sign_in')) return 'sent to sign in';
  if (status === 403) return 'refused';
  if (status === 404) return 'missing';
  return status < 400
    ? 'shown'
    : `${status} ${/<main[^]*?<h1>(.*?)<|role="alert">(.*?)</.exec(text)?.[0].slice(-200) ?? ''}`;
};

const ask = async (cell: Cell): Promise<string> => {
  const secret = sessions.get(cell.person);
  const [method = ''] = cell.row.line.split(' ');
  const headers = {
    accept: 'text/html',
    origin: gantry.url,
    ...(secret !== undefined && { cookie: `${sessionCookie}=${secret}` }),
  };
  const token = secret === undefined ? 'x' : deriveCsrfToken(secret);
  const form = new URLSearchParams({ ...sentOf(cell), authenticity_token: token }).toString();
  return seenOf(
    await wire.send({ method, path: pathOf(cell), headers, ...(method === 'POST' && { body: form }) }),
  );
};

const byAudience = (audience: string, person: string): Seen => {
  if (audience === 'anyone') return 'shown';
  if (person === 'anonymous') return 'sent to sign in';
  return audience === 'user' || person === 'admin' ? 'shown' : 'missing';
};

/** Pages answer anonymous visitors alike for what is hidden, missing, or needs an account. */
const expectedOf = ({ row, person, place }: Cell): Seen[] => {
  if (typeof row.as === 'string') {
    const seen = byAudience(row.as, person);
    return seen === 'shown' && row.isAbsent ? ['missing', 'shown'] : [seen];
  }
  if (row.as === null) throw new Error('not asked');
  const situation: Situation = {
    ...(place?.situation ?? { visibility: 'public', issues: 'enabled' }),
    issue: 'plain',
  };
  const isGuestOfAll = person === 'anonymous' && row.isPublic && situation.visibility === 'public';
  const answer = expectedAnswer(row.as, isGuestOfAll ? 'non-member' : person, situation);
  // A list that holds nothing for them: its page is hidden.
  if (answer === '200-') return person === 'anonymous' ? ['sent to sign in'] : ['missing', 'shown'];
  if (/^[23]/.test(answer)) return row.isAbsent ? ['missing', 'shown', 'sent to sign in'] : ['shown'];
  if (person === 'anonymous') return ['sent to sign in'];
  // Hiding more than the API does is no mistake.
  if (answer.startsWith('404')) return ['missing'];
  // What else is wrong with the request is found after authorization.
  return answer.startsWith('403') ? ['refused', 'missing'] : ['shown'];
};

const isRequested = ({ row, person }: Cell): boolean =>
  row.as !== null && !(kindOf(row) !== 'group' && person === 'member of a project below');

/** `npm test` asks one cell in so many of each place, and each page for somebody in one place of so many. */
const share = 16;
const placeShare = 3;

const askAll = async (place: Place | null, kind: ReturnType<typeof kindOf>): Promise<void> => {
  const people = ['anonymous', ...sessions.keys()];
  const cells = pageRows
    .filter((row) => kindOf(row) === kind)
    .flatMap((row) => people.map((person): Cell => ({ row, person, place })))
    .filter(isRequested);
  const asked = sample(
    cells,
    share,
    ({ row, person }) => `${row.line} ${person} ${place?.situation.visibility}`,
    ({ row }) => (isDrawn(`${row.line} ${JSON.stringify(place?.situation)}`, placeShare) ? row.line : ''),
  );
  const wrong: string[] = [];
  // What a form does for those who may send it is what tests beside the pages ask.
  const harmless = asked.filter(
    (cell) => cell.row.line.startsWith('GET') || !expectedOf(cell).includes('shown'),
  );
  const { db } = gantry.service.platform.store;
  const content = await contentOf(db);
  await forEachAtOnce(harmless, async (cell) => {
    const [seen, expected] = [await ask(cell), expectedOf(cell)];
    if (!expected.some((one) => one === seen))
      wrong.push(`${cell.row.line} | ${cell.person}: expected ${expected.join(' or ')}, got ${seen}`);
  });
  wrong.push(...differences(content, await contentOf(db)));
  failWith(wrong, harmless.length);
};

describe('shows everybody the pages that the table says', () => {
  for (const visibility of ['private', 'internal', 'public'] as Visibility[]) {
    test(`of a ${visibility} project`, async () => {
      await askAll(await makePlace(world, { visibility, issues: 'enabled' }), 'project');
    });
    test(`of a ${visibility} group`, async () => {
      await askAll(await makeGroupPlace(world, visibility), 'group');
    });
  }

  for (const [code, words] of [
    ['private', 'whose code is for members'],
    ['disabled', 'without code'],
  ] as const) {
    test(`of a public project ${words}`, async () => {
      await askAll(await makePlace(world, { visibility: 'public', issues: 'enabled', code }), 'project');
    });
  }

  test('of a public project whose issues are for members', async () => {
    await askAll(await makePlace(world, { visibility: 'public', issues: 'private' }), 'project');
  });

  test('of an archived project', async () => {
    await askAll(
      await makePlace(world, { visibility: 'public', issues: 'enabled', archived: true }),
      'project',
    );
  });

  test('of the instance', async () => {
    await askAll(null, 'instance');
  });
});
