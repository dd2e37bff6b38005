import { keptTexts } from '../issuables/texts.ts';
import { issueJson, issueShape } from './json.ts';
import { issuesById } from './rows.ts';

/** The issues' JSON as lists show them. */
export const issueTexts = keptTexts({ shape: issueShape, read: issuesById, json: issueJson });
