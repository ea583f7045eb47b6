// Runs the code of swift.md against the service and checks the results. The code replaces the comment in capitals.
import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Declares the part of AVFoundation that the code uses.
struct CMTime: Sendable, Equatable { static let zero = CMTime(); var seconds = 0.0 }
struct AVPlayerItem {
    let duration = CMTime(seconds: 300)
    init(url: URL) { precondition(url.scheme == "http") }
}
@MainActor final class AVPlayer {
    static var opened: [Double] = []
    var currentItem: AVPlayerItem?
    func replaceCurrentItem(with item: AVPlayerItem?) { currentItem = item }
    func seek(to time: CMTime) async { AVPlayer.opened.append(time.seconds) }
    func currentTime() -> CMTime { CMTime(seconds: 7) }
    func play() {}
    func pause() {}
}

// Declares the part of Apple's HTTP types and OpenAPI runtime that the middleware uses.
struct HTTPRequest: Sendable {
    struct Method: Sendable { let rawValue: String }
    let method: Method, path: String?, headerFields: [String: String], url: URL?
    init(method: Method, url: URL, headerFields: [String: String]) {
        (self.method, self.path, self.headerFields, self.url) = (method, url.relativeString, headerFields, url)
    }
}
extension URLRequest {
    init?(httpRequest request: HTTPRequest) {
        self.init(url: request.url!)
        httpMethod = request.method.rawValue
        allHTTPHeaderFields = request.headerFields
    }
}
struct HTTPResponse: Sendable { let status: Int }
extension HTTPURLResponse { var httpResponse: HTTPResponse? { HTTPResponse(status: statusCode) } }
typealias HTTPBody = Data
extension Data { init(collecting body: Data, upTo limit: Int) async throws { self = body } }
protocol ClientMiddleware: Sendable {
    func intercept(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?)
}

@MainActor var unavailable = 0
@MainActor func showUnavailable() { unavailable += 1 }
@MainActor var offers = 0
@MainActor func showOffer() { offers += 1 }

/// Value that all tasks may use.
final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    private let lock = NSLock()
    init(_ value: Value) { self.value = value }
    func use<Result>(_ change: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try change(&value)
    }
}

struct MemoryStore: TokenStore {
    let tokens = Locked<Tokens?>(nil)
    func load() -> Tokens? { tokens.use { $0 } }
    func save(_ new: Tokens) { tokens.use { $0 = new } }
    func clear() { tokens.use { $0 = nil } }
}

struct MemoryOutbox: Outbox {
    let favoritesById = Locked<[String: Bool]>([:]), waiting = Locked<[Play]>([]), places = Locked<[String: Position]>([:])
    func favorites() throws -> [String: Bool] { favoritesById.use { $0 } }
    func removeFavorite(_ id: String, ifStill value: Bool) throws { favoritesById.use { if $0[id] == value { $0[id] = nil } } }
    func plays() throws -> [Play] { waiting.use { $0 } }
    func addPlay(_ play: Play) throws { waiting.use { $0.append(play) } }
    func removePlays(_ sent: [Play]) throws { waiting.use { $0.removeAll { play in sent.contains { $0.id == play.id } } } }
    func setPosition(_ position: Position) throws { places.use { $0[position.sound_id] = position } }
    func positions() throws -> [Position] { places.use { Array($0.values) } }
    func removePositions(_ sent: [Position]) throws { places.use { $0 = $0.filter { !sent.contains($0.value) } } }
}

let arguments = CommandLine.arguments
let base = URL(string: arguments[1])!
let store = MemoryStore()
let session = Session(base: base, store: store)
let accounts = Accounts(base: base, store: store)
let outbox = MemoryOutbox()

// THE CODE OF swift.md

struct MemoryCopy: Copy, Sendable {
    var rows: [String: Data] = [:]
    var next: String?
    mutating func inTransaction(_ change: (inout MemoryCopy) throws -> Void) throws { try change(&self) }
    mutating func put(_ kind: String, _ id: String, json: Data) { rows["\(kind) \(id)"] = json }
    mutating func remove(_ kind: String, _ id: String) { rows["\(kind) \(id)"] = nil }
    mutating func clear() { rows = [:] }
}

func expect(_ expected: String, _ values: Any?..., line: Int = #line) {
    let actual = values.map { $0.map { "\($0)" } ?? "nil" }.joined(separator: " ")
    if actual != expected { fatalError("Line \(line): \(actual) instead of \(expected)") }
}

@MainActor func reason(_ call: @MainActor () async throws -> Void) async -> String {
    do {
        try await call()
        return "none"
    } catch let failure as Failure {
        return "\(failure.status) \(failure.reason ?? "") \(failure.field ?? "") \(failure.requestID != nil)"
    } catch { return "\(error)" }
}

@main @MainActor struct Guide {
    static func main() async throws {
        let (email, password, song, token, nonce) = (arguments[2], arguments[3], arguments[4], arguments[5], arguments[6])
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        expect("true", try await config(kept: folder.appending(path: "config")).sign_up)
        expect("401 session_ended  false", await reason { _ = try await allSounds() })
        expect("401 invalid_credentials  true", await reason { _ = try await accounts.signIn(email, "wrong") })
        let short = await reason { _ = try await accounts.signUp("new@example.com", "short", name: nil) }
        expect("400 validation password true", short)
        expect("home", try await accounts.signIn(email, password))

        let issued = store.load()!
        store.save(Tokens(access_token: "refused", refresh_token: issued.refresh_token, expires_in: 3600, receivedAt: .now))
        let tasks = (1...6).map { _ in Task { try await allSounds() } }
        var lists: [[Sound]] = []
        for task in tasks { lists.append(try await task.value) }
        expect("[\(arguments[7])]", Set(lists.map(\.count)))
        expect("true", store.load()!.refresh_token != issued.refresh_token)

        let id = lists[0].first { $0.id != song }!.id
        outbox.favoritesById.use { $0 = [id: true, UUID().uuidString.lowercased(): true] }
        try await sendFavorites()
        for sound in [id, "no id", id] { try await recordPlay(sound) }
        expect("400 validation plays true", await reason { try await sendPlays() }) // tells of the refused entry
        expect("0 0", try outbox.favorites().count, try outbox.plays().count)

        var copy = MemoryCopy()
        try await sync(&copy)
        expect("true", String(decoding: copy.rows["sound \(id)"]!, as: UTF8.self).contains("title"))

        try await saveProgress(id, 1)
        try await saveProgress(id, 75.5)
        try await saveProgress("no id", 20)
        expect("400 validation entries true", await reason { try await sendProgress() })
        expect("[75.5] 0", try await positions().map(\.position_sec!!), try outbox.positions().count)
        try await saveProgress(id, nil)
        try await sendProgress()
        expect("0 75.5 0.0", try await positions().count, start(at: 75.5, of: 300), start(at: 290, of: 300))

        store.save(Tokens(access_token: "refused", refresh_token: store.load()!.refresh_token, expires_in: 3600, receivedAt: .now))
        let unused: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?) = { _, _, _ in fatalError() }
        let headers = ["Content-Type": "application/json"]
        let favorite = Data(#"{"sound_id":"\#(id)"}"#.utf8)
        for (method, path, body, status) in [("GET", "/sounds?limit=1", nil, 200), ("POST", "/favorites", favorite, 201)] {
            let request = HTTPRequest(method: .init(rawValue: method), url: URL(string: path)!, headerFields: headers)
            let (answer, data) = try await SessionMiddleware()
                .intercept(request, body: body, baseURL: base, operationID: "", next: unused)
            expect("\(status) true", answer.status, data!.count > 10)
        }

        let file = try await download(song, into: folder)!
        expect("5000 true", try Data(contentsOf: file).count, try await download(song, into: folder) == file)
        expect("nil", try await download(id, into: folder))

        let playback = Playback()
        try await playback.play(song, at: CMTime(seconds: 20))
        try await playback.failed()
        try await playback.failed()
        expect("[20.0, 7.0] 1", AVPlayer.opened, unavailable)
        try await playback.report() // has not played
        expect("0 0", try outbox.plays().count, try outbox.positions().count)
        try await playback.plays()
        try await playback.pause()
        expect("1 7.0", try outbox.plays().count, try outbox.positions().first!.position_sec!!)
        outbox.waiting.use { $0 = [] }
        outbox.places.use { $0 = [:] }
        try await playback.report() // has not played since the pause
        try await playback.play(arguments[8]) // is locked
        expect("0 2 1", try outbox.positions().count, AVPlayer.opened.count, offers)

        expect("[2]", try await history().data.map(\.plays))
        try await clearHistory(id)
        expect("0", try await history().data.count)
        expect("true", try await devices().contains { $0.user_agent == "Sounds/1.2 (iPhone)" })
        try await signOutDevice()
        expect("[true]", try await devices().map(\.is_current))
        expect("true", try await export().count > 100)
        try await changePassword(email, current: password, new: "staple battery horse")
        let wrong = await reason { try await changePassword(email, current: password, new: "another one") }
        expect("401 invalid_credentials  true", wrong)
        try await signOut()
        expect("401 session_ended  false", await reason { _ = try await devices() })
        expect("home", try await accounts.signIn(idToken: token, nonce: nonce))
        let guest = await reason { _ = try await call("POST", "me/guest", body: ["access_token": "of no guest"]) }
        expect("401 guest_token_invalid  true", guest) // new tokens would not help
        expect("false", try await deleteAccount(appleAuthorizationCode: "used")) // deletes all the same
        let deleted = await reason { _ = try await accounts.signIn(email, "staple battery horse") }
        expect("nil 401 invalid_credentials  true", store.load(), deleted)
    }
}
