// Runs the code of kotlin.md against the service and checks the results. The code replaces the comments in capitals.
package sounds.guide

// THE IMPORTS OF kotlin.md

// Declares the part of Media3 that the code uses, because Media3 is not on Maven Central.
class PlaybackException(cause: Throwable) : Exception(cause)
object HttpDataSource { class InvalidResponseCodeException(val responseCode: Int) : IOException() }
data class MediaItem(val uri: String) { companion object { fun fromUri(uri: String) = MediaItem(uri) } }
object Player {
    interface Listener {
        fun onPlayerError(error: PlaybackException)
        fun onIsPlayingChanged(isPlaying: Boolean)
    }
}
class ExoPlayer {
    val opened = mutableListOf<Long>()
    var currentPosition = 7_000L
    var isPlaying = false
    val duration = 300_000L
    fun setMediaItem(item: MediaItem, position: Long) { check(item.uri.startsWith("http")); opened += position }
    fun prepare() {}
    fun play() {}
    fun stop() { isPlaying = false }
    fun clearMediaItems() {}
}

var unavailable = 0
fun showUnavailable() { unavailable++ }
var offers = 0
fun showOffer() { offers++ }

// Replaces the pauses of coroutines, which take up to a minute, by a list of them.
val pauses = mutableListOf<Long>()
suspend fun delay(timeMs: Long) { pauses += timeMs; yield() }

// Paths whose next call fails as if there were no network.
val broken = mutableSetOf<String>()
val device = OkHttpClient.Builder().callTimeout(20, SECONDS).readTimeout(20, SECONDS).followRedirects(false)
    .addInterceptor { it.proceed(it.request().newBuilder().header("User-Agent", "Sounds/1.2 (Pixel)").build()) }
    .addInterceptor { if (broken.remove(it.request().url.encodedPath)) throw IOException() else it.proceed(it.request()) }
    .build()

// THE CODE OF kotlin.md

class MemoryOutbox : Outbox {
    val wanted = mutableMapOf<String, Boolean>()
    val waiting = mutableListOf<JSONObject>()
    val places = mutableMapOf<String, JSONObject>()
    override fun favorites() = wanted.toMap()
    override fun removeFavorite(id: String, ifStill: Boolean) { wanted.remove(id, ifStill) }
    override fun plays() = waiting.toList()
    override fun addPlay(play: JSONObject) { waiting += play }
    override fun removePlays(sent: List<JSONObject>) { waiting.removeAll(sent) }
    override fun positions() = places.values.toList()
    override fun setPosition(position: JSONObject) { places[position.getString("sound_id")] = position }
    override fun removePositions(sent: List<JSONObject>) { places.values.removeAll { entry -> sent.any { it === entry } } }
    val size get() = wanted.size + waiting.size + places.size
}

class MemoryGuests : GuestStore {
    var guests = listOf<StoredGuest>()
    override fun load() = guests
    override fun save(guests: List<StoredGuest>) { this.guests = guests }
}

class MemoryCopy : Copy {
    val rows = mutableMapOf<String, JSONObject>()
    override var next: String? = null
    override fun inTransaction(change: () -> Unit) = change()
    override fun put(kind: String, id: String, row: JSONObject) { rows["$kind $id"] = row }
    override fun remove(kind: String, id: String) { rows.remove("$kind $id") }
    override fun clear() = rows.clear()
}

fun expect(expected: Any, actual: Any?) = check("$expected" == "$actual") { "$actual instead of $expected" }

suspend fun reasonOf(call: suspend () -> Unit) = try {
    call()
    "none"
} catch (failure: Failure) {
    "${failure.status} ${failure.reason} ${failure.field} ${failure.requestId != null}"
}

/**
 * Sends three outboxes while a proxy answers in the service's place, in each way of test/support/foreign-answers.json, and again when
 * the service is back. `$proxy/answers/3` selects the fourth way, `$proxy/answers/none` the service.
 */
suspend fun surviveForeignAnswers(proxy: String, count: Int, sound: String, box: MemoryOutbox) {
    val answers = proxy.replace("/api/v1", "/answers")
    suspend fun select(answer: String) = withContext(Dispatchers.IO) {
        http.newCall(Request.Builder().url("$answers/$answer").build()).execute().close()
    }
    for (index in 0 until count) {
        box.wanted[sound] = index % 2 == 0
        recordPlay(sound)
        saveProgress(sound, 20.0 + index)
        val tokens = session.store.load()!!
        select("$index")
        val calls: List<suspend () -> Any?> =
            listOf(
                ::sendFavorites, ::sendPlays, ::sendProgress, { deleteAccount() }, { clearHistory() },
                { call("GET", "/home") },
            )
        for (send in calls) {
            val error = runCatching { send() }.exceptionOrNull()
            check(error is IOException && error !is Failure) { "answer $index gives $error" }
        }
        session.store.save(Tokens(tokens.access, tokens.refresh, 0))
        check(runCatching { sendPlays() }.exceptionOrNull() is IOException) // the refresh gets the answer
        expect(tokens.refresh, session.store.load()!!.refresh)
        expect(3, box.size)

        select("none")
        sendFavorites()
        sendPlays()
        sendProgress()
        expect(0, box.size)
        expect(if (index % 2 == 0) 1 else 0, dataOf(call("GET", "/favorites")).size)
        expect("[${20.0 + index}]", positions().map { it.getDouble("position_sec") })
    }
    expect("[$count]", dataOf(history()).map { it.getInt("plays") })
}

fun main(args: Array<String>) = runBlocking {
    val (address, email, password) = args
    base = address
    http = device
    val box = MemoryOutbox()
    outbox = box
    val newerService = args[3]
    val folder = File("guide").apply { mkdir() }
    val key = KeyGenerator.getInstance("AES").generateKey()
    val store = FileTokens(File(folder, "session"), key)
    session = Session(base, http, store)
    val kept = MemoryGuests()
    val guests = Guests(kept)
    accounts = Accounts(base, http, store, guests::keepFor)

    check(config(File(folder, "config")).getString("storage_url").startsWith("http"))
    broken += "/api/v1/config"
    check(config(File(folder, "config")).getBoolean("sign_up")) // without a network

    expect("401 invalid_credentials null true", reasonOf { accounts.signIn(email, "wrong") })
    expect("400 validation password true", reasonOf { accounts.signUp("new@example.com", "short", null) })
    expect("401 code_invalid null true", reasonOf { accounts.enterRecoveryCode(email, "12345678") })
    expect("401 session_ended null false", reasonOf { allSounds() })

    val guest = Tokens("guest", "of the guest", 0)
    store.save(guest)
    kept.guests = listOf(StoredGuest(guest, null), StoredGuest(Tokens("earlier", "earlier", 0), "another user"))
    expect(Screen.Home, accounts.signIn(email, password))
    val (signedIn, other) = kept.guests
    check(signedIn.user != null && signedIn.tokens.refresh == guest.refresh)
    expect("another user", other.user)
    check(!guests.adopt("a third user"))
    val issued = FileTokens(File(folder, "session"), key).load()!!

    store.save(Tokens("refused", issued.refresh, issued.due))
    broken += "/api/v1/auth/refresh"
    val id = allSounds().first().getString("id")
    val refreshed = store.load()!!
    check(refreshed.refresh != issued.refresh)

    store.save(Tokens(refreshed.access, refreshed.refresh, 0))
    box.wanted += mapOf(id to true, UUID.randomUUID().toString() to true)
    sendFavorites()
    check(store.load()!!.refresh != refreshed.refresh)

    listOf(id, "no id", id).forEach(::recordPlay)
    expect("400 validation plays true", reasonOf { sendPlays() }) // tells of the entry that was refused, alone
    check(box.wanted.isEmpty() && box.waiting.isEmpty())

    val copy = MemoryCopy()
    sync(copy)
    check(copy.rows["sound $id"]!!.has("title"))
    session = Session(newerService, http, store)
    base = newerService
    val newer = MemoryCopy()
    sync(newer)
    expect(0, newer.rows.size) // all kinds of the newer service are unknown
    base = address
    session = Session(base, http, store)

    // The catalogue has the file, but Storage answers 404 for every address of it.
    val player = ExoPlayer()
    val missing = PlaybackException(HttpDataSource.InvalidResponseCodeException(404))
    val playback = Playback(player, this)
    playback.play(args[4])
    playback.report() // has not played
    expect(0, box.size)
    player.isPlaying = true
    playback.onIsPlayingChanged(true)
    expect(1, box.waiting.size)
    playback.report()
    player.isPlaying = false
    playback.onIsPlayingChanged(false)
    box.places.clear()
    playback.report() // has not played since the pause
    expect(0, box.places.size)
    box.waiting.clear()
    playback.onPlayerError(missing)
    coroutineContext.job.children.forEach { it.join() }
    playback.onPlayerError(missing)
    expect("[0, 7000] 1", "${player.opened} $unavailable")
    player.isPlaying = true
    playback.play(args[11]) // is locked: the sound before it does not go on
    expect("2 1 false", "${player.opened.size} $offers ${player.isPlaying}")

    saveProgress(id, 1.0)
    saveProgress(id, 75.5)
    saveProgress("no id", 20.0)
    expect("400 validation entries true", reasonOf { sendProgress() })
    expect("[75.5] 0", "${positions().map { it.getDouble("position_sec") }} ${box.places.size}")
    expect("[0.0, 75.5, 0.0]", listOf(10.0, 75.5, 290.0).map { startOf(it, 300.0) })

    val file = download(args[5], folder)!!
    val bytes = file.readBytes()
    check(file.renameTo(File("${file.path}.part")))
    File("${file.path}.part").writeBytes(bytes.copyOf(100))
    expect(5000, bytes.size)
    check(download(args[5], folder)!!.readBytes().contentEquals(bytes)) // resumed
    check(download(UUID.randomUUID().toString(), folder) == null)

    expect("[2]", dataOf(history()).map { it.getInt("plays") })
    clearHistory()
    check(dataOf(history()).isEmpty() && positions().isEmpty())
    base = args[9]
    session = Session(base, http, store)
    surviveForeignAnswers(base, args[10].toInt(), id, box)
    base = address
    session = Session(base, http, store)

    check(devices().any { it.optString("user_agent") == "Sounds/1.2 (Pixel)" })
    signOutDevice()
    expect("[true]", devices().map { it.getBoolean("is_current") })
    check(export().toString().contains(email))
    changePassword(email, password, "staple battery horse")
    expect("401 invalid_credentials null true", reasonOf { changePassword(email, password, "another one here") })
    signOut()
    expect("401 session_ended null false", reasonOf { devices() })

    expect("${Screen.Home} ${args[8]}", "${accounts.signInWith(args[6], args[7])} ${hashOf(args[7])}")
    base = args[12]
    session = Session(base, http, store)
    val before = store.load()!!.refresh
    val used = JSONObject().put("authorization_code", "used")
    expect("401 code_invalid null true", reasonOf { call("POST", "/me/apple/revocation", used, repeatable = false) })
    expect(before, store.load()!!.refresh) // new tokens would not help
    expect(false, deleteAccount(AppleCode("used", "com.example.web", "https://example.com/apple"))) // deletes all the same
    check(store.load() == null)
    expect("401 invalid_credentials null true", reasonOf { accounts.signIn(email, "staple battery horse") })
}
