import { ApiError } from '../api-error.ts';
import { paginate } from '../http/pagination.ts';
import { type Call, created, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { PullRequest, Review } from '../model.ts';
import { simplePull } from '../pull-request-shown.ts';
import { review as shownReview } from '../represent/pull-request.ts';
import { shownTeam } from '../represent/team.ts';
import { simpleUser } from '../represent/user.ts';

const REVIEWS = `${REPOSITORY}/pulls/{pull_number}/reviews`;
const REQUESTED = `${REPOSITORY}/pulls/{pull_number}/requested_reviewers`;
const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

/** Reviews of pull requests, and who is asked for one. */
export const reviewRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: REVIEWS,
    docs: 'pulls/reviews#list-reviews-for-a-pull-request',
    async handle(call) {
      const pull = await pullOf(call);
      // A pending review is nobody's business but its author's.
      const seen = call.forge.reviews.of(pull).filter(({ state, user }) => state !== 'PENDING' || user === call.user);
      const { items, headers } = paginate(call, seen);
      return ok(
        items.map((review) => shown(call, review)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: REVIEWS,
    docs: 'pulls/reviews#create-a-review-for-a-pull-request',
    async handle(call) {
      const { forge, body, user } = call;
      const pull = await pullOf(call);
      const event = body.choice('event', ['APPROVE', 'REQUEST_CHANGES', 'COMMENT']);
      const added = forge.reviews.add(pull, {
        user,
        state: event ? STATES[event] : 'PENDING',
        body: body.optionalText('body') ?? '',
        commitId: body.optionalText('commit_id') ?? pull.headSha,
      });
      return ok(shown(call, added));
    },
  },
  {
    method: 'GET',
    path: `${REVIEWS}/{review_id}`,
    docs: 'pulls/reviews#get-a-review-for-a-pull-request',
    handle: async (call) => ok(shown(call, await reviewOf(call))),
  },
  {
    method: 'POST',
    path: `${REVIEWS}/{review_id}/events`,
    docs: 'pulls/reviews#submit-a-review-for-a-pull-request',
    async handle(call) {
      const review = await reviewOf(call);
      const event = call.body.choice('event', ['APPROVE', 'REQUEST_CHANGES', 'COMMENT']) ?? 'COMMENT';
      call.forge.reviews.submit(await pullOf(call), review, STATES[event], call.body.optionalText('body') ?? '');
      return ok(shown(call, review));
    },
  },
  {
    method: 'PUT',
    path: `${REVIEWS}/{review_id}/dismissals`,
    docs: 'pulls/reviews#dismiss-a-review-for-a-pull-request',
    async handle(call) {
      // The reason is asked for, and shows in the conversation only.
      call.body.text('message');
      const review = await reviewOf(call);
      call.forge.reviews.dismiss(await pullOf(call), review, call.user);
      return ok(shown(call, review));
    },
  },
  {
    method: 'GET',
    path: REQUESTED,
    docs: 'pulls/review-requests#get-all-requested-reviewers-for-a-pull-request',
    async handle(call) {
      const { forge } = call;
      const { requestedReviewers, requestedTeams } = await pullOf(call);
      return ok({
        users: requestedReviewers.map((login) => simpleUser(forge.urls, login)),
        teams: requestedTeams.map((slug) => shownTeam(forge, slug)),
      });
    },
  },
  {
    method: 'POST',
    path: REQUESTED,
    docs: 'pulls/review-requests#request-reviewers-for-a-pull-request',
    async handle(call) {
      const pull = await pullOf(call);
      call.forge.reviews.request(pull, reviewersIn(call), call.user);
      return created(simplePull(call.forge, pull));
    },
  },
  {
    method: 'DELETE',
    path: REQUESTED,
    docs: 'pulls/review-requests#remove-requested-reviewers-from-a-pull-request',
    async handle(call) {
      if (!call.body.has('reviewers')) throw new ApiError(422, `Invalid request.\n\n"reviewers" wasn't supplied.`);
      const pull = await pullOf(call);
      call.forge.reviews.unrequest(pull, reviewersIn(call), call.user);
      return ok(simplePull(call.forge, pull));
    },
  },
];

function reviewersIn({ body }: Call): { users: readonly string[]; teams: readonly string[] } {
  return { users: body.texts('reviewers') ?? [], teams: body.texts('team_reviewers') ?? [] };
}

async function pullOf({ forge, params }: Call): Promise<PullRequest> {
  const pull = forge.pulls.find(Number(params['pull_number']));
  await forge.pulls.refresh(pull);
  return pull;
}

async function reviewOf(call: Call): Promise<Review> {
  return call.forge.reviews.find(await pullOf(call), Number(call.params['review_id']));
}

function shown({ forge }: Call, submitted: Review): Record<string, unknown> {
  return shownReview(forge.urls, forge.owner, submitted, forge.accounts.isDeleted(submitted.user));
}
