/** Reads what a load of writes left, in the form of its ledger. */
import assert from 'node:assert/strict';
import type { Held, State } from './ledger.ts';
import { type Place, callAll } from './process.ts';

const notesByIssue = async ({ query }: Place): Promise<Map<string, string[]>> => {
  const rows = await query(`select issues.project_id, issues.iid, notes.body from notes
    join issues on issues.id = notes.target_id where target_type = 'Issue' and system = 0 order by notes.id`);
  const notes = new Map<string, string[]>();
  for (const { project_id, iid, body } of rows) {
    notes.getOrInsertComputed(`${project_id} ${iid}`, () => []).push(String(body));
  }
  return notes;
};

/** Reads the issues of the load through the service, their comments from the database. */
export const readIssues = async (place: Place, url: string, projects: number[]): Promise<Held> => {
  const notes = await notesByIssue(place);
  const held: Held = new Map();
  for (const project of projects) {
    const issues = await callAll(url, `/projects/${project}/issues`);
    const states = issues.map((issue): [number, State] => {
      assert.deepEqual(issue.labels, ['load']);
      const { title, description, state, confidential } = issue;
      const time_spent = issue.time_stats.total_time_spent;
      return [
        issue.iid,
        {
          title,
          description,
          state,
          confidential,
          time_spent,
          notes: notes.get(`${project} ${issue.iid}`) ?? [],
        },
      ];
    });
    held.set(project, new Map(states));
    assert.equal(held.get(project)?.size, issues.length, 'an iid is there twice');
  }
  return held;
};
