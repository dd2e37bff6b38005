/**
 * How SQLite plans each list of issues, merge requests, labels and milestones over skewed data, without statistics and
 * with them.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Skewed, listsOf, makeSkewed } from '../gates/skewed.ts';
import { fillRequests, requestListsOf } from '../gates/skewed_requests.ts';
import { statementsDuring } from '../support/record_statements.ts';
import { startTestService } from '../support/service.ts';

const planOf = (database: DatabaseSync, text: string): string[] => {
  const rows = database.prepare(`explain query plan ${text}`).all() as { detail: string }[];
  return rows.map(({ detail }) => detail);
};

/** The statements that depend on the list; the records that a page names are then read by their ids. */
const kindOf = (text: string): 'page' | 'count' | 'sums' | null => {
  if (/^\s*select (issues|merge_requests)\.id, \1\.revision\b/.test(text)) return 'page';
  if (/^\s*select .* from "(?:labels|milestones)" .* limit \?/s.test(text)) return 'page';
  if (/^\s*select label_id,\s+sum\(/.test(text)) return 'sums';
  return /^\s*select count\(\*\) as "?total"? from/.test(text) ? 'count' : null;
};

/** What is read of large tables, and sorted. */
const tells = (detail: string): boolean =>
  /^(?:SEARCH|SCAN) (?:issues|merge_requests|led|projects|links|deployments|label_links|assignees|reviewers|\w+_search\w*|award_emoji|milestones|labels|label_counts)\b|TEMP B-TREE/.test(
    detail,
  );

const nameOf = (path: string, { project, group, user }: Skewed): string =>
  path
    .replace(`/projects/${project.id}/`, '/projects/:id/')
    .replace(group, ':id')
    .replace(`_id=${user.id}`, '_id=USER')
    .replace(/[?&]$/, '');

/** Lists of what a project or group has for its issues. */
const labelListsOf = ({ project, group }: Skewed): string[] =>
  [`/projects/${project.id}`, `/groups/${group}`].flatMap((place) => [
    `${place}/labels?`,
    `${place}/labels?with_counts=false`,
    `${place}/labels?search=common`,
    `${place}/milestones?`,
    `${place}/milestones?state=active`,
    `${place}/milestones?title=v1`,
    `${place}/milestones?search=v`,
  ]);

type List = { name: string; statements: string[] };

const plansOf = (database: DatabaseSync, lists: readonly List[]): string[] =>
  lists.map(({ name, statements }) => {
    const lines = statements.flatMap((text) =>
      planOf(database, text)
        .filter(tells)
        .map((line, at) => `  ${(at === 0 ? (kindOf(text) ?? '') : '').padEnd(5)}  ${line}`),
    );
    return `GET ${name}\n${lines.join('\n')}\n`;
  });

export const queryPlansText = async (): Promise<string> => {
  const gantry = await startTestService();
  const skewed = await makeSkewed(gantry);
  await fillRequests(gantry, skewed);
  const lists: List[] = [];
  for (const path of [...listsOf(skewed), ...requestListsOf(skewed), ...labelListsOf(skewed)]) {
    const ask = async (): Promise<unknown> =>
      await gantry.api(`GET ${path}&per_page=5`, { as: skewed.user.token });
    const ofList = (await statementsDuring(ask)).filter((text) => kindOf(text) !== null);
    lists.push({ name: nameOf(path, skewed), statements: ofList });
  }
  const database = new DatabaseSync(join(gantry.service.platform.config.data, 'gantry.sqlite'), {
    timeout: 30_000, // the service may still write
  });
  const plain = plansOf(database, lists);
  database.exec('analyze');
  const analyzed = plansOf(database, lists);
  database.close();
  await gantry.close();
  const changed = analyzed.filter((text, at) => text !== plain[at]);
  return [
    ...plain,
    `With statistics (ANALYZE), ${changed.length} of them are planned otherwise:\n`,
    ...changed,
  ].join('\n');
};
