import { cachedTexts } from '../../issuables/lists/json_cache.ts';
import { withLabelDetails } from '../../issuables/lists/linked_labels.ts';
import { issueJson, issueShape } from '../json.ts';
import { issuesById } from '../rows.ts';

/** Cached JSON texts of issues as lists show them. */
export const issueTexts = cachedTexts({ shape: issueShape, read: issuesById, json: issueJson });

/** The same with labels as objects. */
export const detailedIssueTexts = withLabelDetails('Issue', issueTexts);
