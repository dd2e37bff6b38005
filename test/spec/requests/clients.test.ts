/** What real clients send and read: the rows of the client page's section 1 that concern issues. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { rootToken } from '../../support/service.ts';
import { type Issue, type Reply, type Team, type World, answer, startWorld } from '../world.ts';

let world: World;
let team: Team;
let list: string;
before(async () => {
  world = await startWorld();
  team = await world.team();
  list = `/projects/${team.id}/issues`;
  await world.issue(team.id);
});
after(async () => await world.close());

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const multipart = (
  fields: [string, string][],
  file?: string,
): { body: string; headers: Record<string, string> } => {
  const parts = fields.map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const extra =
    file === undefined
      ? ''
      : `--b\r\nContent-Disposition: form-data; name="${file}"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\ndata\r\n`;
  return {
    body: `${parts.join('')}${extra}--b--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  };
};

describe('1. // and a trailing /', () => {
  it('POST issues/, GET issues/?state=opened, PUT issues//1', async () => {
    assert.equal((await world.api(`POST ${list}/`, { json: { title: 'x' } })).status, 201);
    assert.equal((await world.api(`GET ${list}/?state=opened`)).status, 200);
    assert.equal((await world.api(`PUT ${list}//1`, { json: { title: 'x' } })).status, 200);
  });
});

describe('2. labels as "a,b", ["a","b"], labels[]=a, and labels= or "" to clear', () => {
  const ways: [string, (labels: string[]) => Promise<Reply>][] = [
    ['JSON text', (labels) => world.api(`PUT ${list}/1`, { json: { labels: labels.join(',') } })],
    ['JSON array', (labels) => world.api(`PUT ${list}/1`, { json: { labels } })],
    ['form text', (labels) => world.api(`PUT ${list}/1`, { form: `labels=${labels.join(',')}` })],
    [
      'form array',
      (labels) =>
        world.api(`PUT ${list}/1`, { form: labels.map((one) => `labels[]=${one}`).join('&') || 'labels[]=' }),
    ],
    ['query text', (labels) => world.api(`PUT ${list}/1?labels=${labels.join(',')}`)],
    [
      'query array',
      (labels) =>
        world.api(`PUT ${list}/1?${labels.map((one) => `labels%5B%5D=${one}`).join('&') || 'labels='}`),
    ],
    [
      'multipart text',
      (labels) => world.raw(`PUT /api/v4${list}/1`, multipart([['labels', labels.join(',')]])),
    ],
  ];
  for (const [name, way] of ways) {
    it(name, async () => {
      assert.deepEqual((await way(['a', 'b'])).body.labels, ['a', 'b']);
      assert.deepEqual((await way([])).body.labels, []);
    });
  }
});

describe('3. arrays of every form; a scalar where an array is allowed', () => {
  const assigned = (reply: Reply): number[] => {
    assert.equal(reply.status, 201, reply.text);
    return reply.body.assignees.map(({ id }: Issue) => id);
  };
  it('assignee_ids', async () => {
    const [a, b] = [team.guest.id, team.reporter.id];
    for (const text of [
      `assignee_ids[]=${a}&assignee_ids[]=${b}`,
      `assignee_ids%5B%5D=${a}&assignee_ids%5B%5D=${b}`,
      `assignee_ids[0]=${a}&assignee_ids[1]=${b}`,
      `assignee_ids=${a},${b}`,
      `assignee_ids=${a}&assignee_ids=${b}`,
    ]) {
      assert.deepEqual(assigned(await world.api(`POST ${list}?title=x&${text}`)), [a, b], text);
      assert.deepEqual(assigned(await world.api(`POST ${list}`, { form: `title=x&${text}` })), [a, b], text);
    }
    for (const value of [[a, b], [`${a}`, `${b}`], `${a},${b}`]) {
      assert.deepEqual(
        assigned(await world.api(`POST ${list}`, { json: { title: 'x', assignee_ids: value } })),
        [a, b],
      );
    }
    assert.deepEqual(assigned(await world.api(`POST ${list}`, { json: { title: 'x', assignee_ids: a } })), [
      a,
    ]);
    assert.deepEqual(assigned(await world.api(`POST ${list}?title=x&assignee_ids=${a}`)), [a]);
    assert.deepEqual(assigned(await world.api(`POST ${list}`, { form: 'title=x&assignee_ids[]=' })), []);
    const body = multipart([
      ['title', 'x'],
      ['assignee_ids[]', String(a)],
      ['assignee_ids[]', String(b)],
    ]);
    assert.deepEqual(assigned(await world.raw(`POST /api/v4${list}`, body)), [a, b]);
  });
});

it('4. parameters of a POST in the query with the body {} and Content-Type: application/json', async () => {
  const reply = await world.raw(`POST /api/v4${list}?title=Query&labels=a`, { body: '{}', headers: json });
  assert.deepEqual([reply.status, reply.body.title, reply.body.labels], [201, 'Query', ['a']]);
});

describe('5. Content-Type without a body, and bodies where none is expected', () => {
  it('GET with Content-Type: application/json or form and no body', async () => {
    for (const headers of [json, form])
      assert.equal((await world.raw(`GET /api/v4${list}/1`, { headers })).status, 200);
  });
  it('DELETE with the body {}', async () => {
    const { iid } = await world.issue(team.id);
    assert.equal(
      (await world.raw(`DELETE /api/v4${list}/${iid}`, { body: '{}', headers: json })).status,
      204,
    );
  });
  it('DELETE with Content-Type and no body', async () => {
    const { iid } = await world.issue(team.id);
    assert.equal((await world.raw(`DELETE /api/v4${list}/${iid}`, { headers: json })).status, 204);
  });
  it('POST with Content-Type: application/json and no body', async () => {
    const { iid } = await world.issue(team.id);
    for (const [word, status] of [
      ['unsubscribe', 201],
      ['subscribe', 201],
      ['subscribe', 304],
      ['todo', 201],
      ['reset_spent_time', 201],
    ] as const) {
      assert.equal(
        (await world.raw(`POST /api/v4${list}/${iid}/${word}`, { headers: json })).status,
        status,
        word,
      );
    }
  });
  it('POST with Content-Length: 0', async () => {
    const headers = { ...json, 'content-length': '0' };
    const reply = await world.raw(`POST /api/v4${list}?title=x`, { headers, body: '' });
    assert.equal(reply.status, 201);
  });
  it('GET with a body: the body means nothing', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      const options = {
        method: 'GET',
        headers: { 'private-token': rootToken, ...json, 'content-length': '17' },
      };
      const sent = request(`${world.url}/api/v4${list}`, options, (answered) => {
        answered.resume();
        resolve(answered.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.end('{"state":"wrong"}');
    });
    assert.equal(status, 200);
  });
});

describe('6. booleans and integers as text', () => {
  for (const [word, expected] of [
    ['true', true],
    ['True', true],
    ['1', true],
    ['false', false],
    ['False', false],
    ['0', false],
  ] as const) {
    it(`confidential=${word}, in a query, a form and JSON`, async () => {
      const replies = [
        await world.api(`POST ${list}?title=x&confidential=${word}`),
        await world.api(`POST ${list}`, { form: `title=x&confidential=${word}` }),
        await world.api(`POST ${list}`, { json: { title: 'x', confidential: word } }),
      ];
      for (const { body } of replies) assert.equal(body.confidential, expected);
    });
  }
  it('every value of a JSON body as text', async () => {
    const milestone = await world.milestone(team.id);
    const fields = {
      milestone_id: String(milestone.id),
      assignee_ids: [String(team.guest.id)],
      confidential: '1',
    };
    const { body } = await world.api(`POST ${list}`, { json: { title: 'x', ...fields } });
    assert.deepEqual(
      [body.milestone.id, body.assignee.id, body.confidential],
      [milestone.id, team.guest.id, true],
    );
  });
});

it('7. unknown parameters are ignored', async () => {
  const odd =
    'all=False&with_counts=true&license=true&statistics=true&with_custom_attributes=true&render_html=1' +
    '&include_diverged_commits_count=1&pagination=keyset&in=title,description&simple=1&issue_type=issue&as_list=0';
  const plain = await world.api(`GET ${list}`);
  assert.deepEqual((await world.api(`GET ${list}?${odd}`)).body, plain.body);
  assert.equal((await world.api(`POST ${list}?title=x&${odd}`)).status, 201);
  assert.equal((await world.api(`PUT ${list}/1?title=x&${odd}`)).status, 200);
  assert.equal((await world.api(`GET ${list}/1?${odd}`)).status, 200);
});

it('8. scope in both spellings', async () => {
  for (const [one, other] of [
    ['created-by-me', 'created_by_me'],
    ['assigned-to-me', 'assigned_to_me'],
  ]) {
    const replies = [
      await world.api(`GET /issues?scope=${one}`),
      await world.api(`GET /issues?scope=${other}`),
    ];
    assert.deepEqual(replies[0]?.body, replies[1]?.body);
  }
});

describe('10. tokens and sudo by every channel', () => {
  it('a personal access token in five places', async () => {
    const { token } = team.guest;
    const calls = [
      world.api(`GET ${list}`, { as: null, headers: { 'PRIVATE-TOKEN': token } }),
      world.api(`GET ${list}`, { as: null, headers: { 'private-token': token } }),
      world.api(`GET ${list}?private_token=${token}`, { as: null }),
      world.api(`GET ${list}`, { as: null, headers: { authorization: `Bearer ${token}` } }),
      world.api(`GET ${list}?access_token=${token}`, { as: null }),
    ];
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
  });
  it('in bodies of every type', async () => {
    const { token, id } = team.guest;
    const bodies = [
      { body: JSON.stringify({ title: 'x', private_token: token }), headers: json },
      { body: `title=x&private_token=${token}`, headers: form },
      multipart([
        ['title', 'x'],
        ['private_token', token],
      ]),
      { body: `title=x&private_token=${token}` },
      { body: JSON.stringify({ title: 'x', access_token: token }), headers: json },
    ];
    for (const body of bodies) {
      const reply = await world.raw(`POST /api/v4${list}`, { as: null, ...body });
      assert.deepEqual([reply.status, reply.body.author.id], [201, id]);
    }
  });
  it('in the body of PUT and DELETE', async () => {
    const { token } = team.owner;
    const { iid } = await world.issue(team.id);
    const put = await world.api(`PUT ${list}/${iid}`, {
      as: null,
      json: { title: 'y', private_token: token },
    });
    assert.equal(put.status, 200);
    const gone = await world.raw(`DELETE /api/v4${list}/${iid}`, {
      as: null,
      body: JSON.stringify({ private_token: token }),
      headers: json,
    });
    assert.equal(gone.status, 204);
  });
  it('sudo in the query, in the header of either case, in the body', async () => {
    const { id, username } = team.guest;
    const calls = [
      world.api(`POST ${list}?title=x&sudo=${username}`),
      world.api(`POST ${list}?title=x`, { headers: { SUDO: username } }),
      world.api(`POST ${list}?title=x`, { headers: { sudo: String(id) } }),
      world.api(`POST ${list}`, { json: { title: 'x', sudo: username } }),
      world.api(`POST ${list}`, { form: `title=x&sudo=${id}` }),
      world.raw(
        `POST /api/v4${list}`,
        multipart([
          ['title', 'x'],
          ['sudo', username],
        ]),
      ),
    ];
    for (const { status, body } of await Promise.all(calls))
      assert.deepEqual([status, body.author?.id], [201, id]);
  });
});

it('12. GET /api/v4/ answers, with no RateLimit-Limit', async () => {
  const reply = await world.raw('GET /api/v4/');
  assert.ok(reply.status < 500);
  assert.equal(reply.headers.get('ratelimit-limit'), null);
});

describe('16. Content-Type', () => {
  it('is exactly application/json, and only where there is a JSON body', async () => {
    const { iid } = await world.issue(team.id);
    const at = `${list}/${iid}`;
    for (const line of [
      `GET ${list}`,
      `GET ${at}`,
      `PUT ${at}?title=x`,
      `GET ${list}/999999`,
      `POST ${list}`,
      `GET ${list}?state=x`,
      `PATCH ${at}`,
      'GET /nothing',
    ]) {
      assert.equal((await world.api(line)).headers.get('content-type'), 'application/json', line);
    }
    for (const line of [`POST ${at}/subscribe`, `OPTIONS ${at}`, `DELETE ${at}`]) {
      const reply = await world.api(line);
      assert.deepEqual([reply.headers.get('content-type'), reply.text], [null, ''], line);
    }
  });

  it('304 and 204 have no bytes after their header, and the connection goes on', async () => {
    const { port, hostname } = new URL(world.url);
    const { iid } = await world.issue(team.id);
    const call = (line: string): string =>
      `${line} HTTP/1.1\r\nHost: ${hostname}\r\nPrivate-Token: ${rootToken}\r\n`;
    const last = `${call(`GET /api/v4${list}/999999`)}Connection: close\r\n\r\n`;
    const lines = [`POST /api/v4${list}/${iid}/subscribe`, `DELETE /api/v4${list}/${iid}`];
    const text = await new Promise<string>((resolve, reject) => {
      let all = '';
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${lines.map((line) => `${call(line)}\r\n`).join('')}${last}`);
      });
      socket.on('data', (part) => (all += part.toString()));
      socket.on('end', () => resolve(all));
      socket.on('error', reject);
    });
    const answers = text.split(/(?=HTTP\/1\.1 \d{3} )/);
    assert.deepEqual(
      answers.map((one) => one.slice(9, 12)),
      ['304', '204', '404'],
    );
    for (const one of answers.slice(0, 2)) {
      assert.ok(one.endsWith('\r\n\r\n'), one);
      assert.ok(!/^(content-type|transfer-encoding):/im.test(one), one);
    }
  });
});

describe('17. 304 stays, with no body', () => {
  for (const word of ['subscribe', 'todo']) {
    it(word, async () => {
      const { iid } = await world.issue(team.id);
      await world.api(`POST ${list}/${iid}/${word}`);
      const reply = await world.api(`POST ${list}/${iid}/${word}`);
      assert.deepEqual([reply.status, reply.text], [304, '']);
    });
  }
});

describe('multipart bodies', () => {
  it('fields are parameters; UTF-8, line ends and empty values are kept', async () => {
    const description = 'Zeile 1\r\nLínea 2 😀 & = % + [x]';
    const body = multipart([
      ['title', 'Mehrteilig'],
      ['description', description],
      ['labels', ''],
      ['confidential', 'true'],
    ]);
    const reply = await world.raw(`POST /api/v4${list}`, body);
    assert.deepEqual(
      [reply.status, reply.body.title, reply.body.description, reply.body.confidential],
      [201, 'Mehrteilig', description, true],
    );
  });
  it('a file is no parameter', async () => {
    const reply = await world.raw(`POST /api/v4${list}`, multipart([['title', 'x']], 'description'));
    assert.deepEqual([reply.status, reply.body.description], [201, null]);
  });
  it('a field given twice is refused where one is wanted', async () => {
    const reply = await world.raw(
      `POST /api/v4${list}`,
      multipart([
        ['title', 'x'],
        ['title', 'y'],
      ]),
    );
    assert.deepEqual(answer(reply), [400, { message: { title: ['is invalid'] } }]);
  });
  it('move', async () => {
    const { iid } = await world.issue(team.id);
    const to = await world.project();
    const reply = await world.raw(
      `POST /api/v4${list}/${iid}/move`,
      multipart([['to_project_id', String(to.id)]]),
    );
    assert.deepEqual([reply.status, reply.body.project_id], [201, to.id]);
  });
});

describe('forms', () => {
  it('+ is a blank, %2B a plus, & and = inside values escaped', async () => {
    const reply = await world.api(`POST ${list}`, { form: 'title=a+b%2Bc%26d%3De&description=%C3%A4' });
    assert.deepEqual([reply.body.title, reply.body.description], ['a b+c&d=e', 'ä']);
  });
  it('a form that begins with { and is no JSON is a form', async () => {
    const reply = await world.api(`POST ${list}`, { form: '{x}=1&title=x' });
    assert.equal(reply.status, 201);
  });
  it('a chunked body', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { 'private-token': rootToken, ...form, 'transfer-encoding': 'chunked' };
      const sent = request(`${world.url}/api/v4${list}`, { method: 'POST', headers }, (answered) => {
        answered.resume();
        resolve(answered.statusCode ?? 0);
      });
      sent.on('error', reject);
      sent.write('title=');
      sent.write('in parts');
      sent.end();
    });
    assert.equal(status, 201);
  });
});

it('closed_at, references and web_url are there for today’s clients', async () => {
  const { body } = await world.api(`GET ${list}/1`);
  assert.ok(
    'closed_at' in body &&
      body.references.full === `${team.full_path}#1` &&
      body.web_url.startsWith(world.url),
  );
});

/** An answer to a request with a `Host` header of its own. */
const answerFor = async (
  host: string,
  path: string,
): Promise<{ status: number | undefined; text: string }> => {
  const { port } = new URL(world.url);
  return await new Promise((resolve, reject) => {
    const headers = { 'private-token': rootToken, host };
    const options = { host: '127.0.0.1', port: Number(port), path, headers };
    const sent = request(options, (answered) => {
      let text = '';
      answered.on('data', (part: Buffer) => (text += part.toString()));
      answered.on('end', () => resolve({ status: answered.statusCode, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
};

it('a host that no URL can have is refused', async () => {
  for (const host of ['x:99999', '1.2.3.999', '[::::]', '[1.2.3]', 'a b']) {
    for (const path of [`/api/v4/projects/${team.id}`, '/api/v4/projects', '/users/sign_in', '/nope']) {
      const { status = 0 } = await answerFor(host, path);
      assert.ok(status === 400 || (status === 404 && path === '/nope'), `${host} ${path}: ${status}`);
    }
  }
});

it('web_url has the origin that the client used', async () => {
  const { text } = await answerFor('forge.example:8080', `/api/v4${list}/1`);
  const { web_url, _links, author } = JSON.parse(text);
  for (const url of [web_url, _links.self, author.web_url])
    assert.ok(url.startsWith('http://forge.example:8080/'), url);
});
