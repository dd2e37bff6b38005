/** The one script of all pages. It only enhances: every page works without it. */
import { boardShortcuts, startBoards } from './boards.ts';
import { startCurrentLinks } from './current_links.ts';
import { startCopyButtons } from './copy_buttons.ts';
import { startDrafts } from './writing/text_drafts.ts';
import { startEditors } from './writing/text_editors.ts';
import { startEditing } from './writing/edit_in_place.ts';
import { startEditorTools } from './writing/load_editor_tools.ts';
import { startTerms } from './filters/complete_terms.ts';
import { startFilters } from './filters/filter_lists.ts';
import { startLater } from './load_later.ts';
import { startLines } from './code_lines.ts';
import { startLiveComments } from './live/live_comments.ts';
import { startLive } from './live/live_updates.ts';
import { startMenus } from './menus.ts';
import { partShown } from './page_parts.ts';
import { openPalette, startPalette } from './palette.ts';
import { reviewShortcuts, startReview } from './review/review_shortcuts.ts';
import { rowShortcuts } from './row_navigation.ts';
import { startSelection } from './row_selection.ts';
import { startShortcuts } from './shortcuts.ts';
import { startSimilar } from './writing/similar_issues.ts';
import { startSuggestions } from './filters/suggestions.ts';
import { startQuotes } from './writing/quote_reply.ts';
import { startPasskeys } from './sign_in/passkeys.ts';
import { startPasswords } from './sign_in/show_passwords.ts';
import { startTimes } from './relative_times.ts';
import { startUploads } from './writing/file_uploads.ts';
import { startTasks } from './writing/task_lists.ts';

startTimes();
startLater(partShown);
startMenus();
startCopyButtons();
startCurrentLinks();
startLines();
startEditors();
startEditorTools();
startUploads();
startPasswords();
startPasskeys();
startDrafts();
startFilters();
startSelection();
startSuggestions();
startSimilar();
startTerms();
startTasks();
startEditing();
startQuotes();
startBoards();
startPalette();
startReview();
startShortcuts(
  new Map([
    ['/', ['Search or jump to', openPalette]],
    ['s', ['Search or jump to', openPalette]],
    ...rowShortcuts(),
    ...boardShortcuts(),
    ...reviewShortcuts(),
  ]),
);
startLive();
startLiveComments();
