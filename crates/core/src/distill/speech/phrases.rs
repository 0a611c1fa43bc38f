//! How people and agents say it. Lower case, straight apostrophes; matched as whole words in any case, parted by bars.

pub(in crate::distill) const DECIDED: &str = "\
    decided | decision is | decision was | the decision | decision: | we've agreed | we agreed | agreed to | \
    agreed on | agreed that | settled on | settle on | settled for | settling on | settled: | opted for | opted to | \
    opting for | opt for | went with | chose to | chosen | we chose | i chose | picked | landed on | \
    concluded that we | ruled out | ruling out | rejected the | committed to | final call | the call is | \
    by design | deliberately | intentionally | on purpose | the plan is to use | the verdict | conclusion: | \
    resolved to | standardize on | standardise on | standardized on | standardised on | standardizing on | \
    standardising on | locked in | lock in | signed off on | is settled | was settled | has been decided | \
    out of scope | not in scope | consensus is | consensus: | we're standardising | we're standardizing | \
    made the call | make the call | making the call | we determined | final answer | chose | choosing | it is then | \
    so that's what | wins here | wins because | is the winner | we're dropping | the way to go | we're keeping | \
    we are keeping | we'll be using | preferring | preferred over | ditching | we're moving to | we are moving to | \
    favouring | favoring | approved | greenlit | we're sticking | convention: | policy: | rule: | from now on | \
    the choice is | the choice was | choice: | we've decided | i've decided | ended up with | ended up using | \
    called it | stays, | stays because | stays since | stays as | stays. | conclude that | verdict: | stays in | \
    stays the | are staying with | the agreed | agreement is | we resolved | not doing | won't do | will not do | \
    we'll go without | decide on | decided against | decided on | settle for | we standardised | we standardized | \
    took the decision | the call: | call: | not an option | isn't an option | aren't an option | wins over | wins. | \
    wins! | it'll be the | it will be the | it's going to be | it has to be the | it'll have to be";

pub(in crate::distill) const CHOOSES: &str = "\
    let's use | let us use | let's go with | let's go for | let's stick | let's keep | let's do | let's take | \
    let's not | let's avoid | let's drop | let's skip | let's leave | let's make | let's switch | let's stay | \
    let's adopt | let's pick | let's store | let's put | let's move | let's have | let's target | let's start with | \
    let's defer | let's postpone | go with | going with | go for | stick with | sticking with | stick to | \
    sticking to | stay with | staying with | stay on | staying on | stay away from | i'd go with | i would go with | \
    we'll use | we will use | we'll go | we'll keep | we will keep | we'll stick | we'll stay | we'll store | \
    we'll have | we'll do | we'll make | we'll skip | we'll drop | we'll leave | we'll defer | we'll not | \
    we won't | we will not | we're not going to | we are not going to | we're going to use | we are going to use | \
    we're using | we are using | we use | i'll use | i will use | i'm using | i am using | i'll keep | i will keep | \
    i'll stick | i'll go with | i'll go for | i'll leave | i'll avoid | i'll skip | i'll store | i won't | \
    i will not | i'm not going to | i used | i kept | i left | i'm keeping | i'm going with | i've chosen | \
    i've kept | i've used | i've gone with | keeping the | keep it | keep using | leave it | i prefer | i'd prefer | \
    we prefer | i'd rather | i would rather | rather not | pick the | option a | option b | option c | option d | \
    option 1 | option 2 | option 3 | option 4 | the first option | the second option | the third option | \
    approach a | approach b | approach 1 | approach 2 | the former | the latter | adopting | switch to | \
    switching to | switched to | replace it with | deferring | postpone | for now we | for now, we | standard is | \
    default to | defaulting to | let's call | let's name | let's treat | let's support | let's only | let's just | \
    let's write | let's run | let's cap | let's limit | let's set | use it | we'll support | we'll only | \
    we'll treat | we'll name | we'll call | we'll cap | we'll set | we'll run | we'll write | we'll move | \
    we'll put | i'll set | i'll cap | i'll treat | i'll put | i'll only | i'll model | i'll represent | \
    i'm leaving | i'm dropping | i'm skipping | i'm deferring | so skip | so use | so keep | so drop | so leave | \
    so stick | then use | then keep | so go with | just use | just keep | you can use | you may use | \
    feel free to use | please use | i only want | nothing fancy | proceed with | i'd say | i'd take | i'd pick | \
    i'd choose | i'd vote | the way forward is | i consider the | good enough | hence the | therefore the | \
    per our | as discussed | nothing but | we only use | we only support | we only allow | we only accept | \
    we always use | we never use | going ahead with | went ahead with | go ahead with | moving forward with | \
    move forward with | moved forward with | is the one. | do it with | do this with";

pub(in crate::distill) const FORBIDS: &str = "\
    don't | do not | dont | never | must not | mustn't | shouldn't | should not | may not | cannot use | \
    can't use | no new | not allowed | without adding | without changing | without breaking | without touching | \
    avoid | stay away from | hands off | leave alone | under no circumstances | not to touch | no need to | \
    keep out of | refrain from | forbidden | off limits | off-limits | no third-party | no external | no more | \
    stop using | isn't allowed | aren't allowed | not supposed to | nothing that | no breaking";

pub(in crate::distill) const DEMANDS: &str = "\
    must | always | has to | have to | needs to | need to be | required to | is required | requirement | \
    make sure | ensure | make certain | should be | should use | should stay | should work | should keep | \
    should not | should only | should never | should always | only use | use only | it's important | \
    it is important | important: | be sure to | keep in mind | constraint | at all times | at most | at least | \
    no more than | no later than | has got to | i insist | we insist | mandatory | non-negotiable | needs to stay | \
    needs to keep | needs to work | needs to be | stays | keep compatibility | backward compatible | \
    backwards compatible | remember that | from now on | going forward";

pub(in crate::distill) const CONTRAST: &str = "\
    instead of | rather than | in favor of | in favour of | over using | not the | as opposed to | in place of | \
    and not | instead";

pub(in crate::distill) const REASON: &str = "\
    because | since | due to | so that | as it | as the | as we | given that | given the | in order to | \
    to avoid | the reason | reason: | reason being | rationale: | why: | which avoids | which means | owing to | \
    on account of | to keep | to prevent | to make sure | to reduce | to stay | otherwise | for the sake of | \
    given | given how | bc | cuz | on the grounds | on grounds of | the rationale | the motivation | \
    considering that | thanks to | seeing that | seeing as | inasmuch as | the trade-off | so we | so it | so the";

pub(in crate::distill) const NEXT: &str = "\
    next step | next steps | next up | up next | next i | next, i | next we | next, we | next is | next on | \
    next thing | next task | next action | next: | what's next | next comes | next would be | next will be | \
    next item | next move | the next | pick up with | pick up at | pick up from | pick up by | pick this up | \
    pick it up | picking up with | picking up at | continue with | continue by | continuing with | resume with | \
    resume by | resume at | start with | starting with | first thing tomorrow | first thing to do | from here | \
    from there | moving on to | move on to | on to | turn to | turning to | then i'll | then i will | after that | \
    following that | once that is done | once that's done | tomorrow | when i'm back | when we resume | \
    when you're back | when you resume | to continue | proceed to | proceed with | proceeding to | \
    proceeding with | coming up | after this | once this is | once it's | immediately after | first up | \
    what i'd do next | i'd do next | remaining step | the plan from here | going forward, i | where i left off | \
    left off at | resume from | carry on with | get back to | go back to | with that out of the way | \
    with this out of the way | with that done | with this done | with that in place | now that this | \
    now that that | that leaves | this leaves | which leaves | leaves us with | only leaves | continuation is | \
    way forward | the follow-up is | follow-up is to | natural follow-up | in line is | afterwards | then comes | \
    next session | next time | following session | following step | last step | final step | last thing to do | \
    final thing | when i come back | when i get back | when i return | when we continue | when you continue | \
    when we pick | when you pick | whoever continues | whoever picks | continue here | resume here | \
    pick up here | as soon as | once ci | once the build | once that's merged | once this is merged | \
    once merged | before anything else | ran out of time before | didn't get to | did not get to | \
    didn't get around | didn't get round | got round to | get round to | get around to | got around to | \
    got to yet | later today | on deck | upcoming | to wrap up | to round this off | to finish this off | \
    is next | comes next | would be next | goes next | follows next | i'll follow up | i'd follow up | off to";

pub(in crate::distill) const ANNOUNCES: &str = "\
    i'll | i will | i'm going to | i am going to | i'm about to | i am about to | let me | we'll | we will | \
    we should now | now to | going to | about to | i plan to | i intend to | i want to | plan is to | plan to | \
    i need to | i still need to | we need to | we still need to | i can now | now i | now let's | let's | time to | \
    i'd suggest | i suggest | i recommend | i'd recommend | i propose | i should | we should | you should | \
    you can now | needs to be | i have to | we have to | ready to | needs to | is to | has to be | have to be | \
    should get | give me a | would be to | need to be | needs wiring | needs trimming | to finish";

pub(in crate::distill) const LEFT: &str = "\
    remaining | remains to | remains is | what remains | still need | still needs | still have to | still has to | \
    still to do | still missing | still open | left to do | what's left | what is left | is left | are left | \
    left is | only thing left | one thing left | to be done | not yet | yet to | haven't | hasn't been | have not | \
    has not been | outstanding | isn't done | not done | unfinished | half done | halfway | to-do | has yet | \
    have yet | needs doing | not finished | not implemented | unimplemented | isn't wired | not wired | \
    still requires | missing piece | open point | left off | left over | leftover";

pub(in crate::distill) const FINISHED: &str = "\
    done | finished | completed | complete | implemented | i've | i have | added | fixed | created | wrote | \
    updated | removed | refactored | renamed | moved | migrated | all tests pass | tests pass | now passes | \
    now pass | passing | is green | are green | works now | now works | in place | committed | merged | shipped | \
    deployed | extracted | replaced | wired | converted | built | set up | is ready | are ready | drafted | \
    verified | resolved | ported | introduced | documented | cleaned up | deleted | installed | configured | \
    rewrote | split | landed";

pub(in crate::distill) const FAILED: &str = "\
    didn't work | did not work | doesn't work | does not work | didn't help | did not help | no luck | \
    failed because | fails because | failed with | failed: | failed due | failed on | failed again | failed when | \
    failed since | failed as | broke | breaks | dead end | dead-end | gave up on | giving up on | abandoned | \
    abandoning | reverted | reverting | rolled back | rolling back | backed out | backing out | turned out not | \
    turned out to be wrong | turns out not | not viable | unworkable | a no-go | won't work | will not work | \
    can't work | doesn't support | does not support | isn't supported | is not supported | not supported by | \
    incompatible | conflicts with | conflicted with | caused a | made it worse | made things worse | led to | \
    ran into | blew up | crashed | deadlocked | timed out | too slow | made no difference | had no effect | \
    to no avail | without success | unsuccessful | hit a wall | ruled out | undone | undid | scrapped | ditched | \
    discarded | threw away | wasn't enough | was not enough | not enough | couldn't get | could not get | \
    never worked | regressed | not possible | no good | backfired | fell apart | not workable | couldn't | \
    could not | doesn't compile | did not compile | didn't compile | doesn't build | failing with | fails with | \
    errored | rejected by | kept failing | didn't fix | did not fix | didn't solve | did not solve | flaky | \
    leaked | hung | hangs | corrupted | segfault | out of memory | ran out of | not compatible | doesn't scale | \
    did not scale | was wrong | wrong approach | a mistake";

pub(in crate::distill) const TRIED: &str = "\
    tried | trying | attempted | attempt | first approach | initial approach | previous approach | that approach | \
    experimented | my first | earlier i | i started with | the idea of | i initially | we initially | at first | \
    abandoned | reverted | rolled back | backed out | gave up on | dead end | scrapped | ditched | discarded | \
    ruled out | undid | approach of | approach with | approach using | going through | first i | first tried | \
    experiment with | the experiment | experimenting | switching to | switched to | the switch to | using | \
    went with | a naive | naive | wrapping | patching | pinning | swapping | widening | the idea was | i had";

pub(in crate::distill) const BLOCKED: &str = "\
    blocked by | blocked on | blocked until | i'm blocked | we're blocked | is blocked | are blocked | blocker | \
    is blocking | blocks us | can't proceed | cannot proceed | can't continue | cannot continue | can't go on | \
    unable to proceed | unable to continue | waiting on | need access | needs access | don't have access | \
    do not have access | no access to | missing credentials | need credentials | needs credentials | stuck on | \
    stuck at | i'm stuck | we're stuck | until someone | still fails | still failing | keeps failing | \
    still broken | still red | remains broken | unresolved | no idea why | depends on a fix | held up by | \
    waiting for access | waiting for approval | waiting for credentials | waiting for the vendor | needs approval | \
    need approval | needs sign-off | no permission | lacks permission | can't be tested until | can't test until | \
    cannot be merged until | cannot be deployed until | can't deploy until | can't merge until";

pub(in crate::distill) const OPEN: &str = "\
    open question | open questions | unclear whether | unclear if | unclear how | it's unclear | it is unclear | \
    is unclear | not sure whether | not sure if | not sure how | not sure which | not sure what | unsure whether | \
    unsure if | unsure about | unsure which | to be decided | to be determined | tbd | undecided | \
    need to decide | needs to be decided | needs a decision | have to decide | haven't decided | not decided | \
    still need to know | need to know whether | need to know if | need your input | need your decision | \
    need you to confirm | need you to decide | need confirmation | needs confirmation | need to confirm | \
    please confirm | please clarify | please advise | could you clarify | can you clarify | can you confirm | \
    could you confirm | let me know whether | let me know which | let me know if we should | waiting for your | \
    awaiting your | pending your | question is whether | the question is | question remains | remains open | \
    is still open | still open whether | wonder whether | wondering whether | wondering if | i wonder | \
    figure out whether | figure out how | figure out if | find out whether | find out if | ask the team | \
    check with | don't know yet | do not know yet | don't know whether | don't know if | we don't know | \
    up to you | your call. | your call, | your call? | it's your call | is your call | your call on | \
    your call whether | your call to make | need your call | so your call | worth deciding | jury is still out | \
    open issue is | unresolved question | needs clarification | need clarification | never settled | \
    never decided | didn't settle | haven't settled | still undecided | remains undecided | remains unclear | \
    still unclear | not clear whether | not clear if | not clear how | not clear which | no decision yet | \
    no answer yet | needs an answer | need an answer | question for later | question for you | pending question | \
    unanswered | we'd need to know | need to find out | needs input | need input | want your opinion | \
    what do you think | your preference | awaiting a decision | hasn't been decided | has not been decided | \
    not been decided | left open | leave open | leaving open";

pub(in crate::distill) const COURTESY: &str = "\
    let me know | feel free | happy to | hope this helps | hope that helps | anything else? | anything else you | \
    anything else i | anything else that | if you'd like | if you want me | would you like me | do you want me | \
    want me to | shall i | should i go ahead | should i proceed | should i continue | ready to continue | \
    glad to | just say | sounds good? | does that make sense | does this make sense | is there anything | ok? | \
    okay? | right? | how does that sound | how can i help | what would you like | you're welcome | \
    ready when you are | any questions | what you think | need anything | how it goes";

pub(in crate::distill) const TASK: &str = "\
    to-do | fixme | action item | follow up | follow-up | remember to | don't forget | do not forget | remind me | \
    someone should | somebody should | someone needs to | somebody needs to | assigned to | is responsible for | \
    will take care of | takes care of | owner: | by monday | by tuesday | by wednesday | by thursday | \
    by tomorrow | by next week | before the release | before release | before merging | before we merge | \
    before we ship | before shipping | later we | at some point | needs to send | will send | will review | \
    will write | will check | will draft | will update | need to remember | we need to | make a note | \
    note to self | circle back | needs follow-up | in a follow-up | separate pr | separate ticket | file an issue | \
    open an issue | open a ticket | create a ticket | by friday | todo: | to do: | to-do:";

pub(in crate::distill) const TURNS: &str = "\
    new task | another task | different task | next task | new goal | the goal is now | the task is now | \
    new plan | change of plan | change of plans | change of direction | change in plans | plans changed | \
    plan changed | priorities changed | priorities have changed | priority changed | new priority | forget about | \
    forget that | forget the | forget it | forget what | forget all | scrap that | scrap this | scrap the | \
    drop that | drop this | drop everything | never mind | nevermind | switch gears | switching gears | \
    shift gears | switch focus | change focus | shift focus | let's move on | moving on | let's turn to | \
    let's pivot | pivot to | put that aside | put this aside | set that aside | set this aside | leave that for | \
    leave that for now | leave this for now | park that | park this | on hold | something else | \
    something different | different direction | stop working on | stop what | i changed my mind | changed my mind | \
    on second thought | on reflection | the real goal | what i really want | what i actually want | \
    what i actually need | actual task | real task | more urgent | more important | instead of that | \
    instead of this | abandon the | abandon that | start over | starting over | unrelated | separate topic | \
    different topic | new topic | let's focus on | focus on | now let's | now, let's | let's now | \
    let's do something | ok now | okay now | now i want | now i need | now i'd like | now please | now can you | \
    next i want | next i need | next, let's | next let's | next please | next, please | actually, let's | \
    actually let's | actually i want | actually, i want | actually i need | actually, i need | actually, can you | \
    actually can you | instead, let's | instead let's | i want you to | i'd like you to | rather, let's | \
    we no longer need | no longer needed | i no longer | hold off on | pause the | pause that | pause this | \
    shelve";

pub(in crate::distill) const HEDGE: &str = "\
    could use | might | maybe | perhaps | may want | could also | would it | what if | one option | possible | \
    possibly | alternatively | consider using | consider the | consider a | consider an | consider whether | \
    to consider | let's consider | worth considering | considering whether | considering using | we could | \
    you could | i could | if we | if you | if i | should we | should i | options are | either | for example | \
    e.g. | typically | usually | in general | generally | not sure | unsure | almost | nearly | let me ask | \
    ask first | depends on | have to ask | need to ask | will ask | inclined | leaning towards | leaning to | \
    before choosing | before deciding | before committing | \
    i keep hearing | keep hearing that | i'm told | i am told | i was told | dunno | sceptical | skeptical | \
    don't know what | don't know why | don't know if | don't know whether | potential follow-up | \
    possible follow-up | wondering why | no idea | allegedly | supposedly | swears by | swear by | they say | \
    people say | someone said | i read that | i heard | heard that | don't get about | rumour | rumor | \
    first understand why | to understand why | let me understand why | nothing was agreed | nothing was decided | \
    nothing was settled | nothing is agreed | nothing is decided | nothing is settled | nothing has been agreed | \
    nothing has been decided | nothing has been settled | not been agreed | not yet agreed";

pub(in crate::distill) const SOLVED: &str = "\
    fixed | resolved | unblocked | works now | now works | solved | no longer fails | no longer blocked | \
    sorted out | passes now | now passes | now pass | got access | have access now | answered | settled | decided";

/// Settled, whoever says it.
pub(in crate::distill) const FIRM: &str = "\
    made way for | makes way for | gave way to | made me choose | made me pick | made me switch | convinced me to | \
    persuaded me | no reason to change | no reason to deviate | no reason to replace | no reason to switch | \
    no reason to drop | we're going ahead with | we are going ahead with | i've gone ahead with | \
    we've gone ahead with | moved ahead with | moving ahead with | followed your lead | followed your advice | \
    followed your suggestion | took your suggestion | took your advice | on your advice | at your request | \
    on your request | we end up with | now official | it's official | stays like that | stays that way | \
    stays this way | stay like that | stay that way | remains that way | so i implemented it | \
    so i implemented that | so i used it | so i used that | so i kept it | so i kept that | so i took it | \
    so i took that | so i went with it | so it's in | so i left it in | so i adopted it | so we took it | \
    so we kept it | so we went with it | was resolved as | were resolved as | got resolved as | resolved this as | \
    my ok for | my okay for | my go-ahead for | nothing other than | that's an order | that is an order | \
    takes the place of | took the place of | in place of the old | as the accepted | as the chosen | as the agreed | \
    as the selected | forced me to use | forces me to use | forced us to use | forces us to use | as you wanted | \
    as you requested | remains the plan | still the plan | remain the plan | i stand by | we stand by | \
    per our agreement | we're back to the | we're back to a | respected the decision | honoured the decision | \
    tipped the balance | tips the balance | tipped the scales | tips the scales | deciding factor | \
    decisive factor | decisive argument | made the cut | makes the cut | leaves no choice | left no choice | \
    leaves us no choice | left us no choice | leaves me no choice | no choice but | had no choice | \
    no other choice | no real alternative | conscious choice | conscious decision | deliberate choice | \
    deliberate decision | intentional choice | informed decision | by intention | a middle ground | happy medium | \
    as decided | as agreed | as approved | as you confirmed | as you chose | as you picked | as you instructed | \
    as you told me | choice landed on | settled that | nothing left to discuss | nothing more to discuss | \
    nothing to discuss | nothing left to decide | no more debates | no more discussion | that's how it'll stay | \
    that's how it stays | how it's going to stay | err on the side of | erred on the side of | took the liberty | \
    not to be changed | not to be touched | not to be undone | set in stone now | cast in stone | carved in stone | \
    is not changing | not up for negotiation | parted ways with | by choice | changed course | change course | \
    changed tack | made a call | dead set on | sold on | all in on | made up my mind | made up our minds | \
    mind is made up | minds are made up | voted for | voted to | voted in favor of | voted in favour of | \
    vote goes to | gets my vote | has my vote | got my vote | my vote is | my vote: | i vote for | i'm voting for | \
    end of discussion | end of story | end of debate | end of the discussion | full stop | case closed | \
    that's final | that is final | it's final | and that's that | no discussion | no debate | no exceptions | \
    no ifs and buts | no ifs or buts | done deal | settles it | settles that | settles this | settle this | \
    consider it settled | consider that settled | consider this settled | consider it agreed | \
    consider that agreed | consider this agreed | consider it decided | consider that decided | \
    consider this decided | consider it done | consider it final | consider that final | consider this final | \
    consider it closed | consider that closed | consider this closed | consider it approved | \
    consider that approved | treat it as settled | treat that as settled | treat this as settled | \
    treat it as decided | treat that as decided | treat this as decided | treat that as final | \
    treat this as final | treat it as final | that's agreed | that is agreed | it's agreed | that's decided | \
    that is decided | it's decided | it is decided | it's settled | it is settled | that's settled | \
    that is settled | and nothing else | plan of record | green light for | green light to | go-ahead for | \
    green-lit | gave the go-ahead | signed off | made the switch to | committed ourselves | we're committed to | \
    came down on the side | come down on the side | choice fell on | decision fell on | won out | \
    won the comparison | won the vote | is our pick | is my pick | is our choice | is my choice | \
    remains our choice | stays our choice | our pick is | my pick is | our pick: | my pick: | my choice: | \
    our choice: | ruled in favour of | ruled in favor of | of all the options | weighed both | weighed the options | \
    weighed up | weighing both | no need to evaluate | no need to compare | no need to discuss | no need to debate | \
    not to reopen | to put this to rest | not revisiting | have gone with | has gone with | we've gone with | \
    have gone for | we've gone for | i've gone for | is the only one we | is the only thing we | \
    are the only thing we | the only thing allowed | is the standard here | as our standard | no going back | \
    changed my mind | changed our minds | change of heart | slept on it | thought about it | thought it over | \
    talked it over | talked it through | everyone agreed | everybody agreed | all agreed | everyone agrees | \
    everybody agrees | nobody objected | no objections to | no one objected | unanimous | got approval for | \
    got sign-off | pulled the trigger on | bite the bullet | going all in | i'm going for | we're going for | \
    we are going for | going for the | went for | opt to | elected to | elect to | plumped for | gone for | \
    cast my vote | we do it with | we do this with | we do that with | ruling: | as the winner | gets the nod | \
    came out on top | comes out on top | came out ahead | the winner is | winner: | prevailed | has prevailed | \
    wins, | wins: | won, | carried the day | bet on | betting on | is the only option | are the only option | \
    the only option is | gets the green light | got the green light | has my approval | has my blessing | \
    has our blessing | with our blessing | final word | last word on | decision stands | have a decision | \
    reached a decision | came to a decision | decision made | reached an agreement | agreement reached | \
    no alternative to | no alternatives | no way around | is the standard now | our standard now | not overthink | \
    don't overthink | i rejected | we rejected | i discarded | we discarded | we ruled out | i ruled out | \
    we dropped | is off the table | are off the table | we have chosen | i have chosen | we have picked | \
    we have selected | we selected | i selected | our answer is | the answer is to use | the pick is | \
    convinced by | the nod | thumbs up for | is non-negotiable | is here to stay | i'm set on | i am set on | \
    we're set on | we are set on | we settled the | we've settled the | we have settled the | i've settled the | \
    is the one to use | is the one to go with | is the one to take | is the one we use | is the one we want | \
    is the one we take | is the one we ship | is the one we keep | that's the one | not reopening this | \
    won't reopen this | of the two, i | of the two, we | of the two i | of the two we | out of the two, i | \
    of the three, i | of the three, we | of the three i | of the three we | between the two we | \
    between the two, we | between the two, i | between the two i | having compared | is how we do | \
    is the way we do | are how we do | \
    fixed in stone | written in stone | etched in stone | no contest | hands down | a no-brainer | \
    and nothing less | and nothing weaker | nothing short of | done deliberating | done debating | \
    done discussing | done arguing | we have consensus | there is consensus | there's consensus | \
    reached consensus | came to an agreement | we concluded | i concluded | we're agreed | we are agreed | \
    already agreed | already decided | already settled | already approved | has been agreed | user decision | \
    user's decision | was your choice | per your choice | by your choice | your preference for | you insisted | \
    user insisted | user insists | user decided | my choice of | our choice of | made that choice | \
    made this choice | made the choice | the compromise we | compromise is | compromise: | reached a compromise | \
    met in the middle | commits us to | committed us to | holding to | rolling with | forced my hand | \
    forces my hand | forced our hand | tied my hands | filled the gap with | no opt-out | hereby | \
    selected because | chosen because | picked because | adopted because | selected since | chosen since | \
    picked since | put my objections aside | not a preference | house rule | invariant to preserve | \
    effective immediately | effective today | with immediate effect | only thing that makes sense | \
    only one that makes sense | only sane | only reasonable | only sensible | only viable | that's our way | \
    that is our way | our way is | is what the project wants | is what we ship | is what we'll ship | \
    is what i want | what i want is | is what we want | the rule for this repo | the rule in this repo | \
    the rule in this project | by your decision | per your decision | followed your wish | per your wish | \
    was your pick | per your pick | you explicitly required | you explicitly asked for | you explicitly wanted | \
    you explicitly requested | is the way to do this | is the way to do it";

/// Put to whom it is said to: open where it ends a turn, thinking aloud before that.
pub(in crate::distill) const ASKS: &str = "\
    let me know how you | let me know what the | let me know where | let me know who | let me know when you want | \
    let me know if you want | let me know if you'd | let me know if you prefer | let me know if i should | \
    let me know if this should | let me know if that should | let me know how to | let me know what to | \
    let me know what you'd | let me know what you want | let me know what you prefer | let me know your | \
    tell me whether | tell me which | please tell me | you tell me | do tell me | just tell me | please specify | \
    please decide | please choose | please pick | please advise | please weigh in | please double-check | \
    please correct me | correct me if | need to know from you | i'd need to know | i need to know | \
    i would need to know | like to know whether | like to know if | like to know which | like to know what | \
    like to know how | i'd like to know | need a decision | needs your decision | need your approval | \
    needs your approval | need your sign-off | needs your sign-off | need your word | without your approval | \
    without your sign-off | without your ok | without asking | need your guidance | need guidance | \
    need direction | need your opinion | your opinion on | your thoughts on | your view on | your take on | \
    your decision | your choice | you decide | you to decide | for you to choose | leave it to you | \
    leave that to you | leave the choice to you | it's open whether | is open whether | an open point | \
    an open issue | open points | can't tell whether | can't tell if | can't tell which | cannot tell whether | \
    cannot tell if | couldn't tell whether | couldn't tell if | couldn't determine | could not determine | \
    couldn't find out | could not find out | can't find out | couldn't figure out | can't figure out | \
    couldn't work out | don't know what | don't know which | don't know who | don't know how | don't know where | \
    do not know whether | do not know which | do not know what | no idea whether | no idea which | no idea what | \
    no idea if | no idea who | no idea how | not certain | isn't clear | uncertain whether | uncertain about | \
    uncertain which | uncertain if | unsure what | unsure how | unsure who | wasn't sure | weren't sure | \
    not sure about | not sure who | not sure where | not sure when | not sure that | in two minds | on the fence | \
    torn between | hesitant to | reluctant to | has to decide | have to be decided | has to be decided | \
    must be decided | should decide | must decide | to be clarified | needs clarifying | to be confirmed | tbc | \
    needs to be confirmed | needs to be clarified | doesn't say whether | don't say whether | wonder if | \
    would help to know | good to know whether | curious whether | is it intended | depends on whether you | \
    let me know if that's | let me know if this is | tell me what | tell me how | tell me if | \
    appreciate a decision | appreciate your | appreciate it if you | someone confirm | somebody confirm | \
    need from you | thing to settle | to be settled | still to settle | don't understand | do not understand | \
    only doubt | my doubt | have doubts | a question about | have a question | have one question | \
    one question left | a question on | two options | three options | several options | hear from you | \
    hear back | waiting on an answer | waiting on your | waiting for an answer | waiting for confirmation | \
    give me a hint | some guidance | awaiting | to verify with you | assumption to verify | doesn't say what | \
    doesn't say how | doesn't say which | don't say what | is silent on | says nothing about | ambiguous | \
    can't decide | cannot decide | couldn't decide | until you decide | until you confirm | unless you object | \
    if you object | if you disagree | is that acceptable | want to confirm | wanted to confirm | \
    want to check with you | would like to check | like to confirm | want to make sure you | which one you | \
    which of these you | what you'd prefer | what you would prefer | how you'd like | how you would like | \
    how you want | whether you want | whether you'd like | whether you prefer";
