/** Answers that are kept for as long as the object that they are about, and no longer. */

/**
 * The function with its answers kept, by the object's identity: for objects that are never changed, only replaced, as
 * those of an informer's cache are. The function must depend on nothing but the object.
 */
export function keptByObject<Subject extends object, Answer extends object>(
  answerTo: (subject: Subject) => Answer,
): (subject: Subject) => Answer {
  const kept = new WeakMap<Subject, Answer>();
  return (subject) => {
    const known = kept.get(subject);
    if (known !== undefined) {
      return known;
    }
    const answer = answerTo(subject);
    kept.set(subject, answer);
    return answer;
  };
}
