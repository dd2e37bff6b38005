/** Parameters that hold records: many of them, and each of their texts, with a fragment repeated. */
import { type Probe, longestQuery, repeated, short, texts } from './fragments.ts';

const longestJson = 1024 * 1024;
const longestText = 64 * 1024;

type Composite = {
  method?: 'POST' | 'PUT';
  url: string;
  /** The body around the repeated records or the text. */
  body: (value: never) => object;
};

/** Arrays and objects of which every record is made from its index. */
type Records = Composite & { record: (index: number) => object };

const project = '/api/v4/projects/1';

const records: Record<string, Records> = {
  'actions of a commit': {
    url: `${project}/repository/commits`,
    record: (at) => ({ action: 'create', file_path: `d/${at}`, content: '' }),
    body: (actions) => ({ branch: 'n', start_branch: 'main', commit_message: 'x', actions }),
  },
  'moves of a commit': {
    url: `${project}/repository/commits`,
    record: (at) => ({ action: 'move', file_path: `d/${at}`, previous_path: `e/${at}` }),
    body: (actions) => ({ branch: 'n', start_branch: 'main', commit_message: 'x', actions }),
  },
  'variables of a pipeline': {
    url: `${project}/pipeline`,
    record: (at) => ({ key: `K${at}`, value: '$K1' }),
    body: (variables) => ({ ref: 'main', variables }),
  },
  'links of a release': {
    url: `${project}/releases`,
    record: (at) => ({ name: `n${at}`, url: `https://x.example.com/${at}` }),
    body: (links) => ({ tag_name: 'v9', ref: 'none', assets: { links } }),
  },
  'levels of a protected branch': {
    url: `${project}/protected_branches`,
    record: () => ({ access_level: 30 }),
    body: (allowed_to_push) => ({ name: '', allowed_to_push }),
  },
  'headers of a webhook': {
    url: `${project}/hooks`,
    record: (at) => ({ key: `k-${at}`, value: 'x' }),
    body: (custom_headers) => ({ url: 'no address', custom_headers }),
  },
  'variables of a webhook': {
    url: `${project}/hooks`,
    record: (at) => ({ key: `k${at}`, value: 'x' }),
    body: (url_variables) => ({ url: 'no address', url_variables }),
  },
};

const position = (own: object) => ({
  body: 'x',
  position: { base_sha: 'a', start_sha: 'a', head_sha: 'a', position_type: 'text', ...own },
});

const nested: Record<string, Composite> = {
  'file_path of an action': {
    url: `${project}/repository/commits`,
    body: (file_path) => ({
      branch: 'n',
      start_branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'update', file_path, content: '' }],
    }),
  },
  'previous_path of an action': {
    url: `${project}/repository/commits`,
    body: (previous_path) => ({
      branch: 'n',
      start_branch: 'main',
      commit_message: 'x',
      actions: [{ action: 'move', file_path: 'x', previous_path }],
    }),
  },
  'base64 of an action': {
    url: `${project}/repository/commits`,
    body: (content) => ({
      branch: 'n',
      start_branch: 'none',
      commit_message: 'x',
      actions: [{ action: 'create', file_path: 'x', content, encoding: 'base64' }],
    }),
  },
  'new_path of a position': {
    url: `${project}/merge_requests/1/discussions`,
    body: (path) => position({ new_path: path, old_path: path, new_line: 1 }),
  },
  'line_code of a position': {
    url: `${project}/merge_requests/1/discussions`,
    body: (line_code) =>
      position({
        new_path: 'README.md',
        new_line: 1,
        line_range: { start: { line_code }, end: { line_code } },
      }),
  },
  'value of a variable': {
    url: `${project}/pipeline`,
    body: (value) => ({ ref: 'none', variables: [{ key: 'A', value }] }),
  },
  'key of a variable': {
    url: `${project}/pipeline`,
    body: (key) => ({ ref: 'none', variables: [{ key, value: 'a' }] }),
  },
  'url of a link': {
    url: `${project}/releases`,
    body: (url) => ({ tag_name: 'v9', ref: 'none', assets: { links: [{ name: 'x', url }] } }),
  },
  'header of a webhook': {
    url: `${project}/hooks`,
    body: (value) => ({ url: 'no address', custom_headers: [{ key: 'x', value }] }),
  },
};

const asJson = ({ method = 'POST', url, body }: Composite, value: unknown) => ({
  method,
  url,
  type: 'application/json',
  body: JSON.stringify(body(value as never)),
});

const recordProbes: Probe[] = Object.entries(records).map(([name, one]) => ({
  name: `many ${name}`,
  longest: longestJson,
  of: (length) => {
    const each = JSON.stringify(one.record(10_000)).length + 1;
    const all = Array.from({ length: Math.floor(length / each) }, (_none, at) => one.record(at));
    return asJson(one, all);
  },
}));

const nestedProbes: Probe[] = Object.entries(nested).flatMap(([name, one]) =>
  texts.map((fragment) => ({
    name: `${name}: ${JSON.stringify(fragment)}`,
    longest: longestText,
    of: (length: number) => asJson(one, repeated(fragment, length).toWellFormed()),
  })),
);

/** Filters that hold filters. */
const filters: Record<string, string[]> = {
  '/api/v4/issues': ['not[labels]', 'not[milestone]', 'not[search]', 'not[author_username]', 'or[labels]'],
  [`${project}/issues`]: ['not[labels]', 'not[iids][]', 'or[assignee_username]'],
  [`${project}/merge_requests`]: ['not[labels]', 'not[search]', 'or[labels]', 'or[author_username]'],
  [`${project}/variables/x`]: ['filter[environment_scope]'],
};

const filterProbes: Probe[] = Object.entries(filters).flatMap(([url, names]) =>
  names.flatMap((name) =>
    [...short, ',', '*', '"a ', 'İ'].map((fragment) => ({
      name: `GET ${url}: ${name}: ${JSON.stringify(fragment)}`,
      longest: longestQuery,
      of: (length: number) => {
        const encoded = encodeURIComponent(fragment);
        return {
          method: 'GET',
          url: `${url}?${name}=${encoded.repeat(Math.floor(length / encoded.length))}`,
        };
      },
    })),
  ),
);

export const compositeProbes: Probe[] = [...recordProbes, ...nestedProbes, ...filterProbes];
